package runlog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestAFrameWaitsForTheRunsThatAreHeldAndForNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, held := newHolds(), id.NewRun()
		release := h.hold(held)
		if err := h.wait(t.Context(), LaneFrame{Rows: []LaneRow{{Run: id.NewRun()}, {}}}); err != nil {
			t.Errorf("a frame of another run: %v", err)
		}
		waited := make(chan error, 1)
		go func() { waited <- h.wait(t.Context(), LaneFrame{Rows: []LaneRow{{Run: id.NewRun()}, {Run: held}}}) }()
		h.hold(held)() // whoever comes second lets nobody go
		synctest.Wait()
		select {
		case err := <-waited:
			t.Errorf("a frame of the held run did not wait: %v", err)
		default:
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.wait(ctx, LaneFrame{Rows: []LaneRow{{Run: held}}}); !errors.Is(err, context.Canceled) {
			t.Errorf("a frame whose connection has ended: %v", err)
		}
		release()
		if err := <-waited; err != nil || !h.none() {
			t.Errorf("after the release: %v", err)
		}
	})
}
