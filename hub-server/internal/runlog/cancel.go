package runlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Cancel asks for a run to stop and returns it as it is then. A run of which no edge can have heard ends at once; any other ends when
// its edge says so, and until then it is cancelling. Asking again changes nothing. Errors: fault.NotFound; fault.RunEnded after any
// other end than a cancel. A run whose process has ended already ends at once, too. An interrupted run, of which the edge may have more
// than the hub knows, stays so, but its edge is told to stop it.
func (r *Runs) Cancel(ctx context.Context, runID id.Run, by id.User) (Run, error) {
	return r.CancelFor(ctx, runID, by, "")
}

// CancelFor is Cancel with a reason, a sentence for the log.
func (r *Runs) CancelFor(ctx context.Context, runID id.Run, by id.User, why string) (Run, error) {
	for range raceRetries {
		found, err := r.Get(ctx, runID)
		if err != nil {
			return Run{}, err
		}
		switch {
		case found.State == run.StateCancelling || found.State == run.StateCancelled:
			return found, nil
		case found.State.Ended() && found.State != run.StateInterrupted:
			return Run{}, over(found)
		}
		c, err := r.cancellation(ctx, found, by, why)
		if err != nil {
			return Run{}, fmt.Errorf("prepare cancel: %w", err)
		}
		done, err := r.commands.Cancel(ctx, c)
		if err != nil {
			return Run{}, fmt.Errorf("cancel run: %w", err)
		}
		switch {
		case done && found.State.Ended():
			return Run{}, over(found)
		case done:
			return r.Get(ctx, runID)
		}
	}
	return Run{}, fmt.Errorf("cancel run: %w", errRace)
}

func over(r Run) error { return fault.New(fault.RunEnded, "The run is over already (%s).", r.State) }

func (r *Runs) cancellation(ctx context.Context, found Run, by id.User, why string) (Cancellation, error) {
	at := now()
	asked, err := own(run.Candidate{
		Type: event.RunCancelling, Payload: event.RunCancellingPayload{RequestedBy: by, RequestedAt: at, Reason: remark(why, maxReason)},
	}, at)
	if err != nil {
		return Cancellation{}, err
	}
	withdrawn, err := r.withdrawn(ctx, found, asked)
	if err != nil {
		return Cancellation{}, err
	}
	order, err := json.Marshal(wire.CancelOrder{RequestedBy: by, RequestedAt: at})
	if err != nil {
		return Cancellation{}, fmt.Errorf("encode cancel order: %w", err)
	}
	return Cancellation{
		Run: found.ID, By: by, Edge: found.Edge, Lease: found.Lease, Last: found.LastEventSeq, Asked: asked, Withdrawn: withdrawn,
		Command: r.signer.Command(found.Edge, wire.Command{
			DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: found.ID, Lease: found.Lease, Body: order,
		}),
	}, nil
}

// withdrawn is the end of a run with which no edge has anything to do: nothing is open in a log that no edge has begun.
func (r *Runs) withdrawn(ctx context.Context, found Run, asked Entry) ([]Entry, error) {
	if found.ProcessEnded {
		return r.closer.ending(ctx, found, []Entry{asked}, run.Cancelled(true))
	}
	return r.closer.ending(ctx, Run{ID: found.ID, Edge: found.Edge}, nil, run.Cancelled(true))
}
