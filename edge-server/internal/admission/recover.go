package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// recover accounts for every run that an earlier process left without a terminal. What was never started waits again; of what was, or may
// have been, the processes are ended and the run is reported as cut off, at once (architecture 10).
func (a *Admission) recover(ctx context.Context) error {
	open, err := a.journal.OpenRuns(ctx)
	if err != nil {
		return err
	}
	cut := supervise.NewGroup(ctx)
	for _, r := range open {
		t, err := a.restore(ctx, r)
		switch {
		case err != nil:
			err = fmt.Errorf("run %s: %w", r.ID, err)
		case r.Phase != journal.Admitted:
			cut.Go(func(ctx context.Context) error { return a.cutOff(ctx, t, r) })
		case r.Cancelled:
			err = a.close(ctx, t, run.Cancelled(true))
		default:
			a.schedule.add(t)
		}
		if err != nil {
			return errors.Join(err, cut.Wait())
		}
	}
	return cut.Wait()
}

// restore makes the turn of a recorded run, knowing what the journal has of it. One that never started hears what it was told.
func (a *Admission) restore(ctx context.Context, r journal.Run) (*turn, error) {
	t, err := newTurn(a.opts.Edge, r.Start)
	if err != nil {
		return nil, err
	}
	if r.Phase == journal.Admitted {
		if t.held, err = a.journal.Orders(ctx, r.ID); err != nil {
			return nil, err
		}
	}
	return t, a.catchUp(ctx, t)
}

// cutOff ends a run, or with people asked only the part of it on this edge, whose process belonged to an earlier edge process.
func (a *Admission) cutOff(ctx context.Context, t *turn, r journal.Run) error {
	gone := a.sweep(ctx, r)
	a.metrics.recovered.Inc()
	a.opts.Log.Warn("run was cut off by the end of the edge", "run", r.ID, "phase", r.Phase, "processes_gone", gone)
	switch {
	case r.Cancelled:
		return a.close(ctx, t, run.Cancelled(gone))
	case r.Phase == journal.Intended:
		return a.close(ctx, t, run.Interrupted(fault.StartUnknown))
	}
	return a.close(ctx, t, t.cut(event.EndedUnseen))
}

// sweep ends what is left of a start; it says whether nothing is.
func (a *Admission) sweep(ctx context.Context, r journal.Run) bool {
	if err := a.opts.Sweeper.Sweep(ctx, Nonce(r.Nonce)); err != nil {
		a.opts.Log.Error("processes of an earlier start may be left", "run", r.ID, "error", err)
		return false
	}
	return true
}
