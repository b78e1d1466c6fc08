package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func scrape(t *testing.T, r *telemetry.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestInstrumentsAreServed(t *testing.T) {
	r := telemetry.NewRegistry("hub")
	r.Build("v1.2.3")
	r.Counter("rows_total", "Rows.").Add(3)
	r.Gauge("connections", "Open ones.").Set(7)
	r.GaugeFunc("lag", "Rows behind.", func() float64 { return 9 })
	telemetry.ObserveSince(r.Histogram("commit_seconds", "Commits.", telemetry.LatencyBuckets()), time.Now())
	r.CounterVec("frames_total", "Frames.", "type").With("agent.stream").Inc()
	r.GaugeVec("lane_lag", "Rows behind.", "edge").With("e").Inc()
	r.HistogramVec("wait_seconds", "Waits.", []float64{1}, "kind").With("a").Observe(2)
	page := scrape(t, r)
	for _, want := range []string{
		`hub_build_info{go="go`, `version="v1.2.3"} 1`, "hub_rows_total 3", "hub_connections 7", "hub_lag 9", "hub_commit_seconds_count 1",
		`hub_frames_total{type="agent.stream"} 1`, `hub_lane_lag{edge="e"} 1`, `hub_wait_seconds_bucket{kind="a",le="1"} 0`, "go_goroutines",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

func TestTwoInstancesOfAPartShareAnInstrument(t *testing.T) {
	r := telemetry.NewRegistry("hub")
	r.Counter("rows_total", "Rows.").Inc()
	r.Counter("rows_total", "Rows.").Inc()
	r.CounterVec("frames_total", "Frames.", "type").With("x").Inc()
	r.CounterVec("frames_total", "Frames.", "type").With("x").Inc()
	page := scrape(t, r)
	if !strings.Contains(page, "hub_rows_total 2") || !strings.Contains(page, `hub_frames_total{type="x"} 2`) {
		t.Error(page)
	}
}

func TestOneNameWithTwoMeaningsIsAMistakeInTheProgram(t *testing.T) {
	r := telemetry.NewRegistry("hub")
	r.Counter("rows_total", "Rows.")
	defer func() {
		if recover() == nil {
			t.Error("registered")
		}
	}()
	r.Gauge("rows_total", "Rows.")
}

func TestTwoCoresInOneProcessCountApart(t *testing.T) {
	a, b := telemetry.NewRegistry("hub"), telemetry.NewRegistry("hub")
	a.Counter("rows_total", "Rows.").Inc()
	b.Counter("rows_total", "Rows.")
	if !strings.Contains(scrape(t, b), "hub_rows_total 0") {
		t.Error("counted in the other registry")
	}
}
