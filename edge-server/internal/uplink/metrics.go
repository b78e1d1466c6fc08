package uplink

import "github.com/switchyard-dev/switchyard/shared/telemetry"

type metrics struct {
	connected telemetry.Gauge
	endings   telemetry.Counter
	frames    telemetry.Counter
	rows      telemetry.Counter
	bytes     telemetry.Counter
	uploads   telemetry.Counter
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		connected: r.Gauge("uplink_connected", "1 while the hub takes this edge's rows."),
		endings:   r.Counter("uplink_endings_total", "Connections that ended, attempts included."),
		frames:    r.Counter("uplink_frames_total", "Frames of rows that were sent."),
		rows:      r.Counter("uplink_rows_total", "Rows that were sent, repeats included."),
		bytes:     r.Counter("uplink_row_bytes_total", "Bytes of the rows that were sent."),
		uploads:   r.Counter("uplink_blobs_total", "Blobs that were uploaded."),
	}
}
