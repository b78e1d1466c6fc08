package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// forceRetries is for what moves a run while its edge's rows are held: other hubs, and people.
const forceRetries = 64

// Forcing is the prepared end of a run for which its edge is not waited.
type Forcing struct {
	Run   id.Run
	By    id.User
	Last  EventSeq // where the log ends for which Ended was prepared
	Ended []Entry
}

// Force stops a run as Cancel does and, if its edge would have to confirm that first, ends it at once all the same. The edge keeps its order
// and ends the processes whenever it hears it; what it still reports is late. Nobody knows then how far the agent got or whether it works
// on, so the run is interrupted, not cancelled. Errors: those of Cancel.
func (r *Runs) Force(ctx context.Context, runID id.Run, by id.User) (Run, error) {
	found, err := r.Cancel(ctx, runID, by)
	if err != nil || found.State.Ended() {
		return found, err
	}
	log := r.closer.reading()
	defer r.holds.hold(runID)()
	for range forceRetries {
		if found, err = r.store.Run(ctx, runID); err != nil || found.State.Ended() {
			return r.seen(found), err
		}
		ended, err := log.ending(ctx, found, nil, forced(found))
		if err != nil {
			return Run{}, err
		}
		done, err := r.commands.Force(ctx, Forcing{Run: runID, By: by, Last: found.LastEventSeq, Ended: ended})
		if err != nil {
			return Run{}, fmt.Errorf("force run: %w", err)
		}
		if done {
			r.metrics.forced.Inc()
			return r.Get(ctx, runID)
		}
	}
	return Run{}, fmt.Errorf("force run: %w", errRace)
}

// forced is how a run ends for which its edge is not waited: of one whose process the edge has ended everything is known.
func forced(r Run) run.Outcome {
	if r.ProcessEnded {
		return run.Cancelled(true)
	}
	return run.Interrupted(fault.Forced)
}
