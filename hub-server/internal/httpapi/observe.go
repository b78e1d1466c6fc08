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

// observer gives each request its trace and its call, turns a panic into a problem, and logs and measures the answer. The log has the
// route's pattern and who called, never the URL, a header or a body.
type observer struct {
	log      *slog.Logger
	metrics  *metrics
	problems problems
	next     http.Handler
}

// ServeHTTP serves the request with what stands behind the observer.
func (o observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	trace, ok := telemetry.ParseTraceparent(r.Header.Get("Traceparent"))
	if !ok {
		trace = telemetry.NewTrace()
	}
	r = r.WithContext(withCall(telemetry.WithTrace(r.Context(), trace), &call{}))
	answer := &answer{ResponseWriter: w}
	defer o.finish(answer, r, time.Now())
	o.next.ServeHTTP(answer, r)
}

// finish is deferred, so that it sees a panic.
func (o observer) finish(w *answer, r *http.Request, start time.Time) {
	if cause := recover(); cause != nil {
		recovered(o.problems, w, r, cause)
	}
	took := time.Since(start)
	o.metrics.observe(r, w.status, w.streamed(), took)
	o.log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("pattern", r.Pattern),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("duration", took), slog.String("peer", peer(r)),
		callOf(r.Context()).who())
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

// streamed says whether the answer was a stream, which takes as long as there is something to tell.
func (a *answer) streamed() bool { return a.Header().Get("Content-Type") == eventStream }

// Unwrap lets http.ResponseController and the WebSocket library reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
