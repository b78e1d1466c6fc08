package localapi

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	followers telemetry.Gauge
	sent      telemetry.Counter
	gaps      telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		followers: r.Gauge("local_followers", "Programs of this machine that follow the events."),
		sent:      r.Counter("local_events_total", "Events that were sent to programs of this machine."),
		gaps:      r.Counter("local_gaps_total", "Times that a program asked for events that were trimmed."),
	}
}
