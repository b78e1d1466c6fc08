package uplink

import "github.com/switchyard-dev/switchyard/shared/telemetry"

// Metrics are the numbers of the uplink.
type Metrics struct {
	tunnels   telemetry.Gauge
	rewinds   telemetry.Counter
	badFrames telemetry.Counter
	commit    telemetry.Histogram
}

// NewMetrics registers them.
func NewMetrics(r *telemetry.Registry) *Metrics {
	return &Metrics{
		tunnels:   r.Gauge("uplink_tunnels", "Edge tunnels that are open."),
		rewinds:   r.Counter("uplink_rewinds_total", "Times an edge was asked to send again because rows were missing."),
		badFrames: r.Counter("uplink_bad_frames_total", "Frames of edges that could not be read."),
		commit:    r.Histogram("uplink_commit_seconds", "From a frame's arrival to its rows being on disk.", telemetry.LatencyBuckets()),
	}
}
