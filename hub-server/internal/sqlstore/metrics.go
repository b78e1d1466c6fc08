package sqlstore

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

type writerMetrics struct {
	groups   telemetry.Histogram
	requests telemetry.Histogram
	rows     telemetry.Counter
	failed   telemetry.Counter
}

func newWriterMetrics(reg *telemetry.Registry) writerMetrics {
	return writerMetrics{
		groups: reg.Histogram("store_group_seconds", "From the first statement of a group to its commit on disk.",
			telemetry.LatencyBuckets()),
		requests: reg.Histogram("store_group_requests", "Write requests that shared one commit.", []float64{1, 2, 4, 8, 16, 32, 64}),
		rows:     reg.Counter("store_outbox_rows_total", "Outbox rows committed."),
		failed:   reg.Counter("store_groups_failed_total", "Groups of which nothing was kept."),
	}
}

func (m writerMetrics) observe(requests, rows int, took time.Duration) {
	m.groups.Observe(took.Seconds())
	m.requests.Observe(float64(requests))
	m.rows.Add(float64(rows))
}
