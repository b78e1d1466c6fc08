package cards

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	connections telemetry.Gauge
	refused     telemetry.Vec[telemetry.Counter]
	heard       telemetry.Vec[telemetry.Counter]
	frames      telemetry.Counter
	errors      telemetry.Vec[telemetry.Counter]
	slow        telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		connections: r.Gauge("card_connections", "Open sockets of the card protocol."),
		refused:     r.CounterVec("card_refused_total", "Upgrades to the card protocol that were refused.", "code"),
		heard:       r.CounterVec("card_inbound_total", "Frames of clients of the card protocol.", "type"),
		frames:      r.Counter("card_frames_sent_total", "Frames given to sockets of the card protocol."),
		errors:      r.CounterVec("card_inbound_failed_total", "Frames of clients of the card protocol that led to an error.", "code"),
		slow:        r.Counter("card_slow_closes_total", "Sockets of the card protocol closed because they took nothing."),
	}
}
