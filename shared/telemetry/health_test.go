package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func ask(t *testing.T, h *telemetry.Health) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	return w.Code, w.Body.String()
}

func TestReadyOnlyWhenAllChecksPass(t *testing.T) {
	h := telemetry.NewHealth(time.Second)
	if code, body := ask(t, h); code != http.StatusOK || body != `{"status":"ok","checks":[]}`+"\n" {
		t.Errorf("without checks: %d %s", code, body)
	}
	h.Add("store", func(context.Context) error { return nil })
	if code, body := ask(t, h); code != http.StatusOK || body != `{"status":"ok","checks":[{"name":"store","ok":true}]}`+"\n" {
		t.Errorf("one good: %d %s", code, body)
	}
	h.Add("bus", func(context.Context) error { return errors.New("postgres://user:pw@host is down") })
	if code, body := ask(t, h); code != http.StatusServiceUnavailable ||
		body != `{"status":"unready","checks":[{"name":"store","ok":true},{"name":"bus","ok":false}]}`+"\n" {
		t.Errorf("one bad: %d %s", code, body)
	}
}

func TestSlowCheckFailsAtTheTimeoutAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := telemetry.NewHealth(2 * time.Second)
		h.Add("stuck", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		h.Add("slow", func(context.Context) error { time.Sleep(time.Second); return nil })
		start := time.Now()
		results, ok := h.Report(t.Context())
		if took := time.Since(start); ok || took != 2*time.Second {
			t.Errorf("ok %v after %s", ok, took)
		}
		if !errors.Is(results[0].Error, context.DeadlineExceeded) || results[1].Error != nil || results[1].Name != "slow" {
			t.Errorf("%+v", results)
		}
	})
}
