package runlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Order is something that a person tells a run at work, prepared for the run as it stood: its fact and the command commit together.
type Order struct {
	Run      Run
	By       id.User
	Fact     *Entry // run.steered; nil for what is no fact of the log
	Steer    id.Steer
	Compacts bool // it is refused while the agent has yet to begin with what it was told before
	Command  wire.Command
	Claim    *account.Claim // of the attempt; nil for what may be asked for twice
}

// Meets says whether the run is still where the order was prepared for.
func (o Order) Meets(h Head) bool {
	return h.Edge == o.Run.Edge && h.Lease == o.Run.Lease && (atWork(h.State) || o.Steer != "" && starts(h.State)) && !h.ProcessEnded
}

// AtWork says whether an agent process of the run listens, as far as the hub knows.
func (r Run) AtWork() bool { return atWork(r.State) && !r.ProcessEnded }

// Starts says whether an edge was told to start the run, which has not begun. It keeps what people say to the agent until that listens.
func (r Run) Starts() bool { return starts(r.State) }

// NotYet says whether the run has not begun.
func (r Run) NotYet() bool { return starts(r.State) || r.State.Dispatchable() }

func starts(s run.State) bool { return s == run.StateDispatched }

func atWork(s run.State) bool { return s == run.StateRunning || s == run.StateWaitingPerson }

// Active returns the runs of the conversation that are not over, the oldest first.
func (r *Runs) Active(ctx context.Context, s id.Session) ([]Run, error) {
	active, err := r.store.ActiveRuns(ctx, s)
	for i := range active {
		active[i] = r.seen(active[i])
	}
	return active, err
}

// Can says whether the run's edge takes such a command for it; control is a word of wire.Controls.
func (r *Runs) Can(ctx context.Context, found Run, control string) (bool, error) {
	if found.Edge == "" {
		return false, nil
	}
	n, err := r.succession.Dispatched(ctx, found.ID)
	if err != nil {
		return false, fmt.Errorf("read dispatch of %s: %w", found.ID, err)
	}
	e, err := r.dispatcher.edges.Edge(ctx, found.Edge)
	if err != nil {
		return false, fmt.Errorf("read edge of %s: %w", found.ID, err)
	}
	return e.Can(n.Placement.Profile, control), nil
}

// Compacts says whether the run was started to make a context smaller and for nothing else.
func (r *Runs) Compacts(ctx context.Context, runID id.Run) (bool, error) {
	n, err := r.succession.Dispatched(ctx, runID)
	if err != nil {
		return false, fmt.Errorf("read dispatch of %s: %w", runID, err)
	}
	var order wire.Dispatch
	if err := json.Unmarshal(n.Dispatch, &order); err != nil {
		return false, fmt.Errorf("read dispatch of %s: %w", runID, err)
	}
	return order.Compact, nil
}

// unable are what agents that lack a control are told to lack, and what to do about it.
var unable = map[string]string{
	string(wire.ControlSteer):    "%s cannot be told anything while it works. Wait for its end, or abort it and say it in a new task",
	string(wire.ControlRetryNow): "%s cannot be told to try again at once. Wait, or abort it",
	string(wire.ControlCompact):  "%s cannot make its context smaller when it is asked to. Begin a new conversation instead",
	wire.ThinkingLevels:          "%s cannot be told how hard to think. Leave thinkingLevel out",
}

// Unable is the refusal of what the agent's profile does not name among its controls.
func Unable(agent, control string) error {
	return fault.New(fault.UnsupportedByRuntime, unable[control]+", or have its profile name the control %s.", agent, control)
}

// Order tells a run at work something, and says whether it was still at work. A steer is in its log then, in by's name, and may come before the
// run starts at its edge. Whether by may is asked by the store; whether the agent can, by Can. Errors are those of CommandStore.Order.
func (r *Runs) Order(ctx context.Context, by id.User, found Run, order wire.ControlOrder, claim *account.Claim) (bool, error) {
	if !found.AtWork() && (order.What != wire.ControlSteer || !found.Starts()) {
		return false, nil
	}
	o := Order{Run: found, By: by, Steer: order.SteerID, Compacts: order.What == wire.ControlCompact, Claim: claim}
	var err error
	if order.What == wire.ControlSteer {
		fact, err := own(run.Candidate{
			Type: event.RunSteered, Payload: event.SteeredPayload{SteerID: order.SteerID, Text: order.Text, UserID: by},
		}, now())
		if err != nil {
			return false, err
		}
		o.Fact = &fact
	}
	if o.Command, err = r.order(found, order); err != nil {
		return false, err
	}
	return r.commands.Order(ctx, o)
}

// order signs what the run is told.
func (r *Runs) order(found Run, order wire.ControlOrder) (wire.Command, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return wire.Command{}, fmt.Errorf("encode control: %w", err)
	}
	return r.signer.Command(found.Edge, wire.Command{
		DeliveryID: id.NewDelivery(), Kind: wire.Control, RunID: found.ID, Lease: found.Lease, Body: body,
	}), nil
}

// TakeBack takes back what was said to a run of the conversation, as long as it has not left for the edge; twice is fine. Errors: NotFound;
// NotPending; NotFound, AgentOperateRequired and SessionDissolved of who may not.
func (r *Runs) TakeBack(ctx context.Context, by id.User, s id.Session, steer id.Steer) error {
	found, sent, taken, err := r.commands.Steered(ctx, s, steer)
	switch {
	case err != nil:
		return err
	case sent:
		return notPending()
	case taken:
		return nil
	}
	fact, err := own(run.Candidate{Type: event.SteerWithdrawn, Payload: event.SteerWithdrawnPayload{SteerID: steer, UserID: by}}, now())
	if err != nil {
		return err
	}
	done, err := r.commands.TakeBack(ctx, by, found, steer, fact)
	if err == nil && !done {
		err = notPending()
	}
	return err
}

func notPending() error {
	return fault.New(fault.NotPending, "It is on its way to the agent, and cannot be taken back any more. Say something else that corrects it.")
}

// ordered records how the edge received an order. A steer that it refuses is taken back in the log: nobody waits for it to be taken. Nor
// does a run go on unnoticed without a mode of which its person was told that it holds.
func (l *Lanes) ordered(ctx context.Context, edge id.Edge, c wire.Command, receipt wire.CommandReceipt) error {
	order, err := wire.Decode[wire.ControlOrder](c.Body)
	if err != nil {
		return fmt.Errorf("read control: %w", err)
	}
	refused := receipt.Status != wire.Accepted
	if refused && receipt.Code != fault.TooLate {
		l.log.Warn("an edge has refused an order", "edge", edge, "run", c.RunID, "what", order.What, "code", receipt.Code)
	}
	switch {
	case refused && order.What == wire.ControlSteer:
		fact, err := own(run.Candidate{Type: event.SteerWithdrawn, Payload: event.SteerWithdrawnPayload{SteerID: order.SteerID}}, now())
		if err != nil {
			return err
		}
		return l.runs.commands.CloseSteer(ctx, edge, receipt, fact)
	case refused && order.What == wire.ControlApprovalMode && receipt.Code != fault.TooLate:
		return l.modeRefused(ctx, edge, c, order.Mode, receipt)
	}
	_, err = l.runs.commands.CloseCommand(ctx, edge, receipt, 0, nil)
	return err
}
