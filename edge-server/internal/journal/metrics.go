package journal

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

type metrics struct {
	groups      telemetry.Counter
	rows        telemetry.Counter
	merged      telemetry.Counter
	shed        telemetry.Counter
	failures    telemetry.Counter
	unencodable telemetry.Counter
	blocked     telemetry.Gauge
	used        telemetry.Gauge
	head        telemetry.Gauge
	lag         telemetry.Gauge
	commit      telemetry.Histogram
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		groups:      r.Counter("journal_groups_total", "Transactions of the journal."),
		rows:        r.Counter("journal_entries_total", "Rows and records that were committed."),
		merged:      r.Counter("journal_merged_deltas_total", "Deltas that joined another one's row while they waited."),
		shed:        r.Counter("journal_shed_events_total", "Droppable events that were not kept because space ran low."),
		failures:    r.Counter("journal_failures_total", "Commits and maintenance rounds that failed."),
		unencodable: r.Counter("journal_unencodable_events_total", "Events that could not become rows: a fault of this program."),
		blocked:     r.Gauge("journal_blocked_appends", "Appends that wait for room at this moment."),
		used:        r.Gauge("journal_used_bytes", "Bytes of rows and blobs that are kept."),
		head:        r.Gauge("journal_head", "Number of the newest row."),
		lag:         r.Gauge("journal_uncommitted_rows", "Rows that the hub is not known to hold."),
		commit:      r.Histogram("journal_commit_seconds", "Time of one transaction, sync included.", telemetry.LatencyBuckets()),
	}
}

func (m *metrics) waiting(merged bool) {
	if merged {
		m.merged.Inc()
	}
}

func (m *metrics) committed(entries int, took time.Duration) {
	m.groups.Inc()
	m.rows.Add(float64(entries))
	m.commit.Observe(took.Seconds())
}

func (m *metrics) observe(s State) {
	m.used.Set(float64(s.Used))
	m.head.Set(float64(s.Head))
	m.lag.Set(float64(s.Head - s.Committed()))
}
