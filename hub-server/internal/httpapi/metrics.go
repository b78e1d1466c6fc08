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
}

func newMetrics(r *telemetry.Registry) *metrics {
	return &metrics{
		requests: r.CounterVec("http_requests_total", "Answered requests by route and status.", "route", "status"),
		seconds:  r.Histogram("http_request_seconds", "Time to answer a request, sockets left out.", telemetry.LatencyBuckets()),
	}
}

func (m *metrics) observe(r *http.Request, status int, took time.Duration) {
	m.requests.With(r.Pattern, strconv.Itoa(status)).Inc()
	if status != http.StatusSwitchingProtocols {
		m.seconds.Observe(took.Seconds())
	}
}
