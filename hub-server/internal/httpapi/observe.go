package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// observed gives each request its trace and its call, turns a panic into a problem, and logs and measures the answer. The log has the
// route's pattern and who called, never the URL, a header or a body.
func observed(log *slog.Logger, m *metrics, p problems, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		trace, ok := telemetry.ParseTraceparent(r.Header.Get("Traceparent"))
		if !ok {
			trace = telemetry.NewTrace()
		}
		c := &call{}
		r = r.WithContext(withCall(telemetry.WithTrace(r.Context(), trace), c))
		answer := &answer{ResponseWriter: w}
		defer func() {
			if cause := recover(); cause != nil {
				recovered(p, answer, r, cause)
			}
			m.observe(r, answer.status, time.Since(start))
			log.InfoContext(r.Context(), "request", "method", r.Method, "pattern", r.Pattern, "status", answer.status,
				"bytes", answer.bytes, "duration", time.Since(start), "peer", peer(r), c.who())
		}()
		next.ServeHTTP(answer, r)
	})
}

func recovered(p problems, w *answer, r *http.Request, cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause) // net/http's own way to cut a connection
	}
	err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	if w.status != 0 {
		p.log.ErrorContext(r.Context(), "request failed after its answer began", "pattern", r.Pattern, "error", err)
		panic(http.ErrAbortHandler)
	}
	p.answer(w, r, err)
}

// answer remembers what was written.
type answer struct {
	http.ResponseWriter
	status int // 0 until the answer began
	bytes  int64
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(data []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(data)
	a.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController and the WebSocket library reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
