package runlog

import (
	"context"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// holds are the runs of which this hub takes no rows for a moment, because somebody must get a word in: an edge that reports all the time has
// always committed a frame between the reading of a log and the writing behind its end. Safe for concurrent use.
type holds struct {
	mu   sync.Mutex
	runs map[id.Run]chan struct{} // closed when the run is let go
}

func newHolds() *holds { return &holds{runs: map[id.Run]chan struct{}{}} }

// hold lets frames with rows of a run wait until release is called. A frame that is being committed is seen through. Of a run that is held
// already nothing changes.
func (h *holds) hold(run id.Run) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs[run] != nil {
		return func() {}
	}
	done := make(chan struct{})
	h.runs[run] = done
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.runs, run)
		close(done)
	}
}

// wait returns when none of the frame's runs is held, or with the cause of ctx's end.
func (h *holds) wait(ctx context.Context, f LaneFrame) error {
	if h.none() {
		return nil
	}
	for _, run := range f.Runs() {
		held := h.held(run)
		if held == nil {
			continue
		}
		select {
		case <-held:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (h *holds) none() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.runs) == 0
}

// held returns a channel that is closed when the run is let go, nil if nobody holds it.
func (h *holds) held(run id.Run) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[run]
}
