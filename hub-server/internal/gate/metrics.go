package gate

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	connections telemetry.Gauge
	refused     telemetry.Vec[telemetry.Counter]
	resumes     telemetry.Vec[telemetry.Counter]
	frames      telemetry.Counter
	ignored     telemetry.Vec[telemetry.Counter]
	slow        telemetry.Counter
	kicks       telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		connections: r.Gauge("client_connections", "Open client sockets."),
		refused:     r.CounterVec("client_refused_total", "Upgrades that were refused.", "code"),
		resumes:     r.CounterVec("client_resumes_total", "How connections began.", "resume", "reason"),
		frames:      r.Counter("client_frames_total", "Frames given to client sockets."),
		ignored:     r.CounterVec("client_inbound_ignored_total", "Frames of clients that were ignored.", "reason"),
		slow:        r.Counter("client_slow_closes_total", "Sockets closed because they took nothing."),
		kicks:       r.Counter("client_kicks_total", "Sockets closed because their login ended or their device connected again."),
	}
}
