package admission

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/crashpoint"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Receive answers a command. The receipt is on disk, with the command, when it is returned; a repeat gets the recorded one. An error means
// that there is no answer: the hub asks again on the next connection.
func (a *Admission) Receive(ctx context.Context, c wire.Command) (wire.CommandReceipt, error) {
	ctx = context.WithoutCancel(ctx) // a command that is on disk must also be acted upon, though the connection is gone
	recorded, known, err := a.journal.Receipt(ctx, c.DeliveryID)
	if err != nil || known {
		return recorded, err
	}
	receipt, err := a.decide(ctx, c)
	if err != nil {
		return wire.CommandReceipt{}, fmt.Errorf("receive %s %s: %w", c.Kind, c.DeliveryID, err)
	}
	a.metrics.commands.With(string(receipt.Status)).Inc()
	return receipt, nil
}

func (a *Admission) decide(ctx context.Context, c wire.Command) (wire.CommandReceipt, error) {
	switch c.Kind {
	case wire.Start:
		return a.receiveStart(ctx, c)
	case wire.Cancel:
		return a.receiveCancel(ctx, c)
	case wire.AnswerPrompt:
		return a.receiveAnswer(ctx, c)
	case wire.Control:
		return a.receiveControl(ctx, c)
	}
	r := receipt(c, wire.Unsupported, fault.New(fault.Unsupported, "This edge does not know the command; a newer edge-server may."))
	return r, a.journal.Answer(ctx, c, r)
}

func (a *Admission) receiveStart(ctx context.Context, c wire.Command) (wire.CommandReceipt, error) {
	earlier, known, err := a.journal.FindRun(ctx, c.RunID)
	if err != nil {
		return wire.CommandReceipt{}, err
	}
	if known {
		return a.receiveStartAgain(ctx, c, earlier)
	}
	t, refused := a.examine(c)
	if refused != nil {
		return a.reject(ctx, c, refused)
	}
	r := receipt(c, wire.Accepted, nil)
	if err := a.journal.AnswerStart(ctx, c, r); err != nil {
		return r, err
	}
	crashpoint.Reach(crashpoint.RunAdmitted)
	if reason := a.schedule.wouldWait(t.dialogue); reason != reasonNone {
		if err := a.journal.Commit(ctx, t.origin, t.normaliser.Queue(reason)...); err != nil {
			return r, fmt.Errorf("record queueing: %w", err)
		}
	}
	a.schedule.add(t)
	return r, nil
}

// examine says why a start cannot be taken, if so.
func (a *Admission) examine(c wire.Command) (*turn, *fault.Fault) {
	t, err := newTurn(a.opts.Edge, c)
	if err != nil {
		return nil, fault.Public(err)
	}
	_, offered := a.opts.Profiles.Limit(t.job.Profile)
	switch {
	case !offered:
		return nil, fault.New(fault.ProfileUnknown, "This edge has no profile %.80q.", t.job.Profile)
	case a.journal.Busy():
		return nil, fault.New(fault.Busy, "The journal of this edge is almost full; it takes no new runs until the hub has caught up.")
	}
	if reason := a.schedule.refuses(t.dialogue); reason != reasonNone {
		return nil, fault.New(fault.Busy, "%s", reason)
	}
	return t, nil
}

// receiveStartAgain answers another dispatch of a run that this edge has taken: it never starts a second process.
func (a *Admission) receiveStartAgain(ctx context.Context, c wire.Command, earlier journal.Run) (wire.CommandReceipt, error) {
	if why := lane.Judge(c, recorded(earlier)); why != nil {
		return a.reject(ctx, c, why)
	}
	r := receipt(c, wire.Accepted, nil)
	return r, a.journal.AnswerAgain(ctx, c, r)
}

func (a *Admission) receiveCancel(ctx context.Context, c wire.Command) (wire.CommandReceipt, error) {
	why, err := a.judge(ctx, c)
	switch {
	case err != nil:
		return wire.CommandReceipt{}, err
	case why != nil:
		return a.reject(ctx, c, why)
	}
	r := receipt(c, wire.Accepted, nil)
	if err := a.journal.AnswerCancel(ctx, c, r); err != nil {
		return r, err
	}
	if t := a.schedule.cancel(c.RunID); t != nil {
		return r, a.close(ctx, t, run.Cancelled(true))
	}
	return r, nil
}

func (a *Admission) reject(ctx context.Context, c wire.Command, why *fault.Fault) (wire.CommandReceipt, error) {
	r := receipt(c, wire.Rejected, why)
	a.opts.Log.Warn("command rejected", "kind", c.Kind, "run", c.RunID, "code", why.Code)
	return r, a.journal.Answer(ctx, c, r)
}

func receipt(c wire.Command, s wire.Status, why *fault.Fault) wire.CommandReceipt {
	r := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: s}
	if why != nil {
		r.Code, r.Detail = why.Code, why.Detail
	}
	return r
}

// judge says why a command cannot be taken, by what the journal has of its run.
func (a *Admission) judge(ctx context.Context, c wire.Command) (*fault.Fault, error) {
	target, known, err := a.journal.FindRun(ctx, c.RunID)
	if err != nil || !known {
		return lane.Judge(c, nil), err
	}
	return lane.Judge(c, recorded(target)), nil
}

// recorded is what lane.Judge has to know of a run.
func recorded(r journal.Run) *lane.Known {
	return &lane.Known{Lease: r.Lease, Cancelled: r.Cancelled, Ended: r.Phase == journal.Ended}
}
