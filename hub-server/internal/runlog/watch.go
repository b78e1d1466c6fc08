package runlog

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const (
	lookEvery = time.Second
	// jump is by how much a look may come late, or wall and monotonic time disagree, before everything observed is forgotten: the
	// machine slept, or this process was stopped, and whoever was absent may have been here all the while. It is less where the whole
	// absence may be short: what nobody looked at is no part of it.
	jump = 5 * time.Second

	sweepEvery = 10 * time.Minute
)

// Watch ends the runs of edges that stay away or were removed, and dispatches waiting runs that no greeting reached. Absence is observed on this
// process's monotonic clock, never computed from stored times (architecture 10): a start of the hub begins the observation anew. What is volatile
// decides nothing for good: an edge that the store says is at another hub that lives is that hub's to miss.
type Watch struct {
	runs      *Runs
	continuer Continuer
	after     time.Duration

	lastLook  time.Time // that saw everything; monotonic
	lastWall  time.Time
	lastSweep time.Time
	absent    map[id.Run]time.Time // since when its edge is, monotonic; owned by Run
}

// Continuer takes answers back to an agent whose process has ended.
type Continuer interface {
	// Continue lets a run whose process was ended go on in a new one, unless it still waits for a person.
	Continue(ctx context.Context, abandoned Run) error
}

// NewWatch returns a watch that interrupts the runs of an edge after so long an absence (HUB_INTERRUPT_AFTER). A person has all the time
// in the world: runs that wait for one are left alone, whether a process may still wait with them or not.
func NewWatch(runs *Runs, continuer Continuer, after time.Duration) *Watch {
	return &Watch{runs: runs, continuer: continuer, after: after, absent: map[id.Run]time.Time{}}
}

// Run watches until ctx ends. Trouble with the store is logged and tried again at the next look.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(min(lookEvery, max(w.after/4, time.Millisecond)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := time.Now()
		if err := w.Look(ctx, now, now.Round(0)); err != nil && ctx.Err() == nil {
			w.runs.log.Error("look at open runs failed", "error", err)
		}
	}
}

// Look looks at everything once, at times that are later than those of the look before. at is read by the monotonic clock, wall by the other. Run
// calls it; it is there for whoever has clocks of their own.
func (w *Watch) Look(ctx context.Context, at, wall time.Time) error {
	if w.slept(at, wall) {
		clear(w.absent)
	}
	if w.lastSweep.IsZero() || at.Sub(w.lastSweep) >= sweepEvery {
		w.lastSweep = at
		if err := w.runs.closer.blobs.sweep(ctx); err != nil {
			return err
		}
	}
	if err := w.runs.dispatchOnline(ctx); err != nil {
		return err
	}
	if err := w.tendAbandoned(ctx); err != nil {
		return err
	}
	open, err := w.runs.store.OpenRuns(ctx, "")
	if err != nil {
		return err
	}
	away, err := w.runs.away(ctx, open)
	if err != nil {
		return err
	}
	w.observe(open, away, at)
	w.lastLook, w.lastWall = at, wall
	for _, r := range open {
		reason, err := w.reason(ctx, r, at)
		if err != nil {
			return err
		}
		if reason == "" || reason == fault.EdgeAbsent && r.State == run.StateWaitingPerson {
			continue
		}
		if err := w.runs.finish(ctx, r.ID, run.Interrupted(reason)); err != nil {
			return err
		}
		w.runs.metrics.interrupted.Inc()
		w.runs.log.Warn("run interrupted: its edge is gone", "run", r.ID, "edge", r.Edge, "reason", reason)
	}
	return nil
}

// tendAbandoned is the floor under what usually happens at once: a cancel and an answer that were under way to a process when it was ended.
func (w *Watch) tendAbandoned(ctx context.Context) error {
	abandoned, err := w.runs.succession.AbandonedRuns(ctx)
	if err != nil {
		return err
	}
	for _, r := range abandoned {
		if r.State == run.StateCancelling {
			err = w.runs.finish(ctx, r.ID, run.Cancelled(true))
		} else {
			err = w.continuer.Continue(ctx, r)
		}
		if err != nil && ctx.Err() == nil { // one run that cannot go on holds up no other
			w.runs.log.Error("a run without a process could not be seen to", "run", r.ID, "error", err)
		}
	}
	return nil
}

// reason says why a run must end, "" if it need not: its edge was removed and will never come back, or it has stayed away for too long.
func (w *Watch) reason(ctx context.Context, r Run, at time.Time) (fault.Code, error) {
	since, away := w.absent[r.ID]
	if !away {
		return "", nil
	}
	known, err := w.runs.dispatcher.edges.Edge(ctx, r.Edge)
	switch {
	case err != nil:
		return "", fmt.Errorf("read edge %s: %w", r.Edge, err)
	case known.Revoked():
		return fault.EdgeRevoked, nil
	case at.Sub(since) >= w.after:
		return fault.EdgeAbsent, nil
	}
	return "", nil
}

// slept compares both clocks with the last look.
func (w *Watch) slept(at, wall time.Time) bool {
	if w.lastLook.IsZero() {
		return false
	}
	return jumped(at.Sub(w.lastLook), wall.Sub(w.lastWall), min(jump, w.after/2))
}

// jumped says whether this process may have missed something between two looks that lie so far apart on each clock.
func jumped(monotonic, wall, tolerated time.Duration) bool {
	return monotonic > lookEvery+tolerated || (wall-monotonic).Abs() > jump
}

// away returns the edges of open runs that are at no hub: no word of them has come here, and none is held by another hub that lives, whose word
// may be lost on the way.
func (r *Runs) away(ctx context.Context, open []Run) (map[id.Edge]bool, error) {
	away := map[id.Edge]bool{}
	for _, one := range open {
		if _, judged := away[one.Edge]; judged || r.presence.Online(one.Edge) {
			continue
		}
		holder, err := r.lanes.Holder(ctx, one.Edge)
		if err != nil {
			return nil, err
		}
		away[one.Edge] = !holder.Elsewhere
	}
	return away, nil
}

// observe begins an absence for each open run whose edge is away, and ends it for all others. Each run has its own: one that began since the
// last look shows that its edge was here meanwhile.
func (w *Watch) observe(open []Run, away map[id.Edge]bool, at time.Time) {
	absent := map[id.Run]time.Time{}
	for _, r := range open {
		if !away[r.Edge] {
			continue
		}
		since, known := w.absent[r.ID]
		if !known {
			since = at
		}
		absent[r.ID] = since
	}
	w.absent = absent
}
