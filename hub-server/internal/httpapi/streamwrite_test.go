package httpapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func TestAHoleCutsTheStreamAndIsNeverSkipped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &stream{
			feed: feed{
				Deps:    Deps{Log: slog.New(slog.DiscardHandler), Pace: Pace{}.withDefaults()},
				metrics: newMetrics(telemetry.NewRegistry("hub")),
				ctx:     context.WithoutCancel(r.Context()), w: w, out: http.NewResponseController(w),
			},
			projection: canonical.Projection{View: canonical.Lean},
		}
		s.begin()
		err := s.send([]runlog.StoredEvent{{Seq: 1, Type: event.RunStarted, Payload: []byte(`{}`)}})
		if err != nil {
			t.Errorf("event 1: %v", err)
		}
		err = s.send([]runlog.StoredEvent{{Seq: 3, Type: event.RunCompleted, Payload: []byte(`{}`)}})
		if !errors.Is(err, runlog.ErrHole) {
			t.Errorf("event 3 behind event 1: %v", err)
		}
		t.Errorf("a cut stream went on: %v", s.end(err))
	}))
	defer server.Close()
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil || !strings.Contains(string(got), "event: run.started") || strings.Contains(string(got), "run.completed") {
		t.Errorf("the client read %q, %v", got, err)
	}
}

func TestWhoAcceptsJSONMoreThanAStreamGetsPages(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/event-stream": false, "application/json": true, "text/html,application/json;q=0.9,*/*;q=0.8": true,
		"application/json, text/event-stream": false, "application/json;q=0.5, text/event-stream": false,
		"application/json, text/event-stream;q=0.5": true, "application/json;q=0": false, "application/json;q=x": false, ";;": false,
	} {
		if wantsPage([]string{accept}) != want {
			t.Errorf("%q gets pages: %v", accept, !want)
		}
	}
}
