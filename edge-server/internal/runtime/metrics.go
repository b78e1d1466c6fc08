package runtime

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	ignored telemetry.Vec[telemetry.Counter]
	exits   telemetry.Vec[telemetry.Counter]
	prompts telemetry.Vec[telemetry.Counter]
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		ignored: r.CounterVec("agent_lines_ignored_total", "Lines of agents that were no events of their protocol.", "reason"),
		exits:   r.CounterVec("agent_exits_total", "Agent processes that ended, by how.", "how"),
		prompts: r.CounterVec("agent_requests_total", "Requests of agents for permission, by who answers them.", "by"),
	}
}

// how says in a word how an agent ended.
func how(end End) string {
	switch {
	case !end.Gone:
		return "not_gone"
	case end.TimedOut:
		return "timeout"
	case end.Cancelled:
		return "cancelled"
	case end.Code != 0:
		return "nonzero"
	}
	return "zero"
}
