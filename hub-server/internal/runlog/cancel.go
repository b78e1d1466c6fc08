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
// other end than a cancel. A run whose process has ended already ends at once, too.
func (r *Runs) Cancel(ctx context.Context, runID id.Run, by id.User) (Run, error) {
	for range raceRetries {
		found, err := r.Get(ctx, runID)
		if err != nil {
			return Run{}, err
		}
		switch {
		case found.State == run.StateCancelling || found.State == run.StateCancelled:
			return found, nil
		case found.State.Ended():
			return Run{}, fault.New(fault.RunEnded, "The run is over already (%s).", found.State)
		}
		c, err := r.cancellation(found, by)
		if err != nil {
			return Run{}, fmt.Errorf("prepare cancel: %w", err)
		}
		done, err := r.commands.Cancel(ctx, c)
		if err != nil {
			return Run{}, fmt.Errorf("cancel run: %w", err)
		}
		if done {
			return r.Get(ctx, runID)
		}
	}
	return Run{}, fmt.Errorf("cancel run: %w", errRace)
}

func (r *Runs) cancellation(found Run, by id.User) (Cancellation, error) {
	at := now()
	asked, err := own(run.Candidate{
		Type: event.RunCancelling, Payload: event.RunCancellingPayload{RequestedBy: by, RequestedAt: at},
	}, at)
	if err != nil {
		return Cancellation{}, err
	}
	withdrawn, err := own(run.Candidate{
		Type: event.RunCancelled, Payload: event.RunCancelledPayload{ExternalStopConfirmed: true},
	}, at)
	if err != nil {
		return Cancellation{}, err
	}
	order, err := json.Marshal(wire.CancelOrder{RequestedBy: by, RequestedAt: at})
	if err != nil {
		return Cancellation{}, fmt.Errorf("encode cancel order: %w", err)
	}
	return Cancellation{
		Run: found.ID, By: by, Edge: found.Edge, Lease: found.Lease, Asked: asked, Withdrawn: withdrawn,
		Command: r.signer.Command(found.Edge, wire.Command{
			DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: found.ID, Lease: found.Lease, Body: order,
		}),
	}, nil
}
