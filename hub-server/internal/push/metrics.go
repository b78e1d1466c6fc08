package push

import "github.com/switchyard-dev/switchyard/shared/telemetry"

// Metrics count what becomes of pushes.
type Metrics struct {
	outcomes telemetry.Vec[telemetry.Counter]
}

// NewMetrics registers them.
func NewMetrics(r *telemetry.Registry) *Metrics {
	return &Metrics{outcomes: r.CounterVec("push_outcomes_total", "What became of attempts to push, by channel, state and code.", "channel", "state", "code")}
}

func (m *Metrics) count(c Channel, out Outcome) {
	m.outcomes.With(string(c), string(out.State), string(out.Code)).Inc()
}
