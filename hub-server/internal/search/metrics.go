package search

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Metrics are what an operator sees of the index. A nil one counts nothing.
type Metrics struct {
	entered telemetry.Counter
	lag     telemetry.Gauge
}

// NewMetrics registers them.
func NewMetrics(r *telemetry.Registry) *Metrics {
	return &Metrics{
		entered: r.Counter("search_messages_total", "Messages that this hub has put into the index of the search."),
		lag:     r.Gauge("search_behind_rows", "Rows of the outbox that the index of the search was behind when this hub looked last."),
	}
}

func (m *Metrics) count(n int) {
	if m != nil {
		m.entered.Add(float64(n))
	}
}

func (m *Metrics) behind(rows delivery.Position) {
	if m != nil {
		m.lag.Set(float64(rows))
	}
}
