package delivery

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	position          telemetry.Gauge
	waiting           telemetry.Gauge
	rows              telemetry.Counter
	holes             telemetry.Counter
	streams           telemetry.Gauge
	overflows         telemetry.Counter
	pages             telemetry.Counter
	recentPages       telemetry.Counter
	ephemeralsDropped telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		position:          r.Gauge("tail_position", "Outbox position up to which rows were offered to connections."),
		waiting:           r.Gauge("tail_lag_rows", "Rows that the tail has read and not yet offered; stays above 0 when it stands still."),
		rows:              r.Counter("tail_rows_total", "Outbox rows that passed the tail."),
		holes:             r.Counter("tail_holes_total", "Reads of the outbox that showed a hole, and were repeated."),
		streams:           r.Gauge("delivery_streams", "Open client streams, attached or catching up."),
		overflows:         r.Counter("delivery_overflows_total", "Times a stream's queue was full and it went back to catching up."),
		pages:             r.Counter("delivery_pages_total", "Pages that streams which catch up have read from the store."),
		recentPages:       r.Counter("delivery_recent_pages_total", "Pages that streams which catch up have got out of memory."),
		ephemeralsDropped: r.Counter("delivery_ephemerals_dropped_total", "Ephemeral frames that a busy stream went without."),
	}
}
