package cardlog

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Metrics are what an operator sees of card traces.
type Metrics struct {
	open    telemetry.Gauge
	facts   telemetry.Counter
	frames  telemetry.Counter
	lost    telemetry.Counter
	orphans telemetry.Counter
	lag     telemetry.Histogram
}

// NewMetrics registers them.
func NewMetrics(r *telemetry.Registry) *Metrics {
	return &Metrics{
		open:    r.Gauge("cards_traces", "Conversations whose cards somebody is watching at this hub."),
		facts:   r.Counter("cards_facts_total", "Events and messages that this hub has folded into cards."),
		frames:  r.Counter("cards_frames_total", "Card frames that this hub has appended to traces."),
		lost:    r.Counter("cards_lost_total", "Pages of cards that another hub had appended first."),
		orphans: r.Counter("cards_orphaned_total", "Cards that this hub has ended because nothing was heard of them."),
		lag: r.Histogram("cards_lag_seconds", "From the commit of an event to that of the card frames which tell it; much for a conversation that "+
			"somebody looks at again after a while.", telemetry.LatencyBuckets()),
	}
}

// told counts frames that were stored, the newest of them of a fact that the hub has had since then.
func (m *Metrics) told(frames int, since time.Time) {
	if frames == 0 {
		return
	}
	m.frames.Add(float64(frames))
	m.lag.Observe(time.Since(since).Seconds())
}
