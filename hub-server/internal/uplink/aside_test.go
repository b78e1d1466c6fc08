package uplink

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
)

// Hubs say things until the last moment. Whatever is begun is waited for, and nothing is begun after.
func TestWhatOtherHubsSayWhileThisOneStopsIsWaitedForOrNotLookedInto(t *testing.T) {
	for range 200 {
		h := NewHandler(Deps{Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		var begun, ended atomic.Int64
		var said sync.WaitGroup
		for range 4 {
			said.Go(func() {
				for range 10 {
					h.aside(func(ctx context.Context) { begun.Add(1); <-ctx.Done(); ended.Add(1) })
				}
			})
		}
		said.Go(stop)
		if err := h.Run(ctx); err != nil {
			t.Fatal(err)
		}
		after := ended.Load()
		said.Wait()
		if begun.Load() != after {
			t.Fatalf("%d were begun, and %d had ended when the hub had stopped", begun.Load(), after)
		}
	}
}
