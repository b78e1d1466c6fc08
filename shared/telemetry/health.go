package telemetry

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// Check proves that something works; nil means it does. It must return soon after ctx ends.
type Check func(ctx context.Context) error

// Health is a set of named checks. Safe for concurrent use.
type Health struct {
	timeout time.Duration
	mu      sync.Mutex
	checks  []namedCheck // in the order in which they were added
}

type namedCheck struct {
	name  string
	check Check
}

// NewHealth returns a set without checks. Each check gets timeout.
func NewHealth(timeout time.Duration) *Health { return &Health{timeout: timeout} }

// Add puts a check into the set.
func (h *Health) Add(name string, check Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = append(h.checks, namedCheck{name, check})
}

// Result is the outcome of one check. Error is for logs: it may name internals.
type Result struct {
	Name  string
	Error error
}

// Report runs all checks at the same time, each with the timeout, and waits for them. ok is true when all passed.
func (h *Health) Report(ctx context.Context) (results []Result, ok bool) {
	h.mu.Lock()
	checks := h.checks[:len(h.checks):len(h.checks)]
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	results = make([]Result, len(checks))
	group := supervise.NewGroup(ctx)
	for i, c := range checks {
		group.Go(func(ctx context.Context) error {
			results[i] = Result{c.name, c.check(ctx)}
			return nil // one failure must not cut the others short
		})
	}
	_ = group.Wait() // no function returns an error
	ok = true
	for _, r := range results {
		ok = ok && r.Error == nil
	}
	return results, ok
}

// Handler answers 200 when all checks pass and 503 otherwise, with the names of the checks but not their errors.
func (h *Health) Handler() http.Handler {
	type check struct {
		Name string `json:"name"`
		OK   bool   `json:"ok"`
	}
	type answer struct {
		Status string  `json:"status"`
		Checks []check `json:"checks"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		results, ok := h.Report(r.Context())
		a := answer{Status: "ok", Checks: []check{}}
		for _, result := range results {
			a.Checks = append(a.Checks, check{result.Name, result.Error == nil})
		}
		code := http.StatusOK
		if !ok {
			a.Status, code = "unready", http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(a) // the client may be gone; nobody to tell
	})
}
