package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

type metrics struct {
	requests telemetry.Vec[telemetry.Counter]
	seconds  telemetry.Histogram

	streams       telemetry.Gauge
	conversations telemetry.Gauge
	streamsEnded  telemetry.Vec[telemetry.Counter]
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		requests:      r.CounterVec("http_requests_total", "Answered requests by route and status.", "route", "status"),
		seconds:       r.Histogram("http_request_seconds", "Time to answer a request, sockets and streams left out.", telemetry.LatencyBuckets()),
		streams:       r.Gauge("http_event_streams", "Open streams of runs' events."),
		conversations: r.Gauge("http_conversation_streams", "Open streams of conversations as OmniMessages."),
		streamsEnded:  r.CounterVec("http_event_streams_ended_total", "Streams that ended before their run did, by reason.", "why"),
	}
}

func (m *metrics) observe(r *http.Request, status int, streamed bool, took time.Duration) {
	m.requests.With(r.Pattern, strconv.Itoa(status)).Inc()
	if status != http.StatusSwitchingProtocols && !streamed {
		m.seconds.Observe(took.Seconds())
	}
}
