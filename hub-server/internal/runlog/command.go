package runlog

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// PendingCommands returns what the edge has not answered, oldest first: send all of it on each new connection. From here on a start
// counts as one that the edge may have.
func (l *Lanes) PendingCommands(ctx context.Context, edge id.Edge) ([]wire.Command, error) {
	return l.runs.commands.TakeCommands(ctx, edge)
}

// Receipt records how an edge received a command. A start that it rejects ends the run in the hub: the edge has no log for it. An
// answer to a command that is not open, or not this edge's, changes nothing.
func (l *Lanes) Receipt(ctx context.Context, edge id.Edge, receipt wire.CommandReceipt) error {
	receipt.Code = fault.Code(remark(string(receipt.Code), maxCode))
	receipt.Detail = remark(receipt.Detail, maxReason)
	receipt.Status = wire.Status(remark(string(receipt.Status), maxCode))
	for range raceRetries {
		c, open, err := l.runs.commands.Command(ctx, edge, receipt.DeliveryID)
		if err != nil || !open {
			return err
		}
		if c.Kind == wire.Control {
			return l.ordered(ctx, edge, c, receipt)
		}
		found, err := l.runs.store.Run(ctx, c.RunID)
		if err != nil {
			return fmt.Errorf("read run of command: %w", err)
		}
		entries, err := l.consequence(ctx, found, c, receipt)
		if err != nil {
			return err
		}
		done, err := l.runs.commands.CloseCommand(ctx, edge, receipt, found.LastEventSeq, entries)
		if err != nil {
			return fmt.Errorf("record receipt: %w", err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("record receipt: %w", errRace)
}

// consequence is what a receipt means for the run: nothing, or its end.
func (l *Lanes) consequence(ctx context.Context, found Run, c wire.Command, receipt wire.CommandReceipt) ([]Entry, error) {
	if receipt.Status == wire.Accepted || found.State.Ended() || c.Lease != found.Lease {
		return nil, nil
	}
	switch {
	case c.Kind == wire.Start && found.State == run.StateCancelling:
		return l.runs.closer.ending(ctx, found, nil, run.Cancelled(true))
	case c.Kind == wire.Start:
		return l.runs.closer.ending(ctx, found, nil, run.Failed(rejection(receipt)))
	case c.Kind == wire.Cancel && receipt.Code != fault.TooLate:
		// The edge does not know the run. Nobody can say that its process is gone.
		return l.runs.closer.ending(ctx, found, nil, run.Cancelled(false))
	}
	return nil, nil
}

func rejection(receipt wire.CommandReceipt) event.ErrorObj {
	failure := event.ErrorObj{Code: receipt.Code, Message: receipt.Detail, Retryable: receipt.Code == fault.Busy}
	if failure.Code == "" {
		failure.Code = fault.StartFailed
	}
	if receipt.Status == wire.Unsupported {
		failure.Code = fault.Unsupported
	}
	if failure.Message == "" {
		failure.Message = "The edge did not take the run."
	}
	return failure
}
