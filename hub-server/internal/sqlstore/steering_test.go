package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// steer says something to the run as it stands.
func (a *asker) steer(by id.User, text string, claim *account.Claim) (id.Steer, bool, error) {
	a.t.Helper()
	order := wire.ControlOrder{What: wire.ControlSteer, SteerID: id.NewSteer(), Text: text}
	done, err := a.Runs.Order(a.t.Context(), by, a.get(a.t, a.n.ID), order, claim)
	return order.SteerID, done, err
}

func (a *asker) steered(text string) id.Steer {
	a.t.Helper()
	steer, done, err := a.steer(a.ada.User, text, nil)
	if err != nil || !done {
		a.t.Fatalf("steer: %t, %v", done, err)
	}
	return steer
}

// orders are what the edge has not answered, but for the start.
func (a *asker) orders() (orders []wire.ControlOrder) {
	a.t.Helper()
	for _, c := range a.pending(a.t, a.j.edge) {
		if c.Kind != wire.Control || c.RunID != a.n.ID || !a.signer.CheckCommand(a.j.edge, c) {
			a.t.Fatalf("command %+v", c)
		}
		order, err := wire.Decode[wire.ControlOrder](c.Body)
		if err != nil {
			a.t.Fatal(err)
		}
		orders = append(orders, order)
	}
	return orders
}

// told are the types of the run's events behind the start.
func (a *asker) told() []event.Type {
	a.t.Helper()
	return typesOf(a.logOf(a.t, a.n.ID))[1:]
}

func (a *asker) takeBack(by id.User, steer id.Steer) fault.Code {
	a.t.Helper()
	return fault.CodeOf(a.Runs.TakeBack(a.t.Context(), by, a.n.Session, steer))
}

func TestWhatIsSaidToARunIsInItsLogAndOnItsWay(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		first, second := a.steered("say it <shorter>"), a.steered("in English")
		orders := a.orders()
		if len(orders) != 2 || orders[0].SteerID != first || orders[1].SteerID != second || orders[0].Text != "say it <shorter>" {
			t.Fatalf("orders %+v", orders)
		}
		events := a.logOf(t, a.n.ID)
		var p event.SteeredPayload
		if err := json.Unmarshal(events[1].Payload, &p); err != nil || p.SteerID != first || p.Text != "say it <shorter>" || p.UserID != a.ada.User {
			t.Errorf("payload %s", events[1].Payload)
		}
		a.j.answer(t, a.record, wire.Accepted, "")
		if !slices.Equal(a.told(), []event.Type{event.RunSteered, event.RunSteered}) || len(a.orders()) != 0 {
			t.Errorf("log %v, orders %v", a.told(), a.orders())
		}
	})
}

func TestWhoMayNotOperateSaysNothingToARun(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob := id.NewUser()
		try := func(want fault.Code) {
			t.Helper()
			if _, done, err := a.steer(bob, "stop it", nil); done || fault.CodeOf(err) != want {
				t.Errorf("steered %t, %v; want %s", done, err, want)
			}
		}
		try(fault.NotFound)
		a.admit(bob)
		try(fault.AgentOperateRequired)
		if len(a.told()) != 0 || len(a.orders()) != 0 {
			t.Errorf("log %v", a.told())
		}
		waiting := a.steered("go on")
		if code := a.takeBack(bob, waiting); code != fault.AgentOperateRequired {
			t.Errorf("took back what somebody else said: %q", code)
		}
		a.grant(bob)
		if _, done, err := a.steer(bob, "now", nil); !done || err != nil {
			t.Errorf("who may now: %t, %v", done, err)
		}
		do(t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE sessions SET dissolved_at = 1 WHERE id = $1`, string(a.n.Session))
			return err
		})
		try(fault.SessionDissolved)
	})
}

func TestARunThatIsNotAtWorkHearsNothing(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		stood, order := a.get(t, a.n.ID), wire.ControlOrder{What: wire.ControlSteer, SteerID: id.NewSteer(), Text: "too late"}
		a.stands(run.StateWaitingEdge)
		for _, state := range []run.State{run.StateDispatched, run.StateWaitingEdge} { // as it stood before, and now
			stood.State = state
			if done, err := a.Runs.Order(t.Context(), a.ada.User, stood, order, nil); done || err != nil {
				t.Errorf("a run that waits for an edge: %t, %v", done, err)
			}
		}
		a.stands(run.StateRunning)
		stood = a.get(t, a.n.ID)
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		if done, err := a.Runs.Order(t.Context(), a.ada.User, stood, order, nil); done || err != nil { // it ended between the look and the commit
			t.Errorf("an ended run: %t, %v", done, err)
		}
		fresh := a.start(t, a.n.Session) // its edge was told to start it, and keeps a steer until it has
		early := a.get(t, fresh.ID)
		if done, err := a.Runs.Order(t.Context(), a.ada.User, early, wire.ControlOrder{What: wire.ControlCompact}, nil); done || err != nil {
			t.Errorf("a run that has not begun makes its context smaller: %t, %v", done, err)
		}
		if slices.Contains(typesOf(a.logOf(t, a.n.ID)), event.RunSteered) {
			t.Error("the log says that somebody steered")
		}
	})
}

// stands puts the asker's run into another state.
func (a *asker) stands(state run.State) {
	do(a.t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE runs SET state = $2 WHERE run_id = $1`, string(a.n.ID), string(state))
		return err
	})
}

func TestAClaimSteersOnce(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		claim := &account.Claim{Attempt: account.Attempt{User: a.ada.User, Route: "POST /x", Key: "key-1"}, Answer: []byte("first")}
		var repeated *account.Repeated
		if _, done, err := a.steer(a.ada.User, "go on", claim); !done || err != nil {
			t.Fatalf("steer: %t, %v", done, err)
		}
		if _, _, err := a.steer(a.ada.User, "go on", claim); !errors.As(err, &repeated) || string(repeated.Answer) != "first" {
			t.Errorf("a repeat: %v", err)
		}
		if len(a.orders()) != 1 {
			t.Errorf("orders %v", a.orders())
		}
	})
}

func TestWhatHasNotLeftIsTakenBack(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		steer := a.steered("delete it all")
		for range 2 {
			if code := a.takeBack(a.ada.User, steer); code != "" {
				t.Fatalf("take back: %s", code)
			}
		}
		if !slices.Equal(a.told(), []event.Type{event.RunSteered, event.SteerWithdrawn}) || len(a.orders()) != 0 {
			t.Errorf("log %v, orders %v", a.told(), a.orders())
		}
		sent := a.steered("go on")
		a.orders() // a hub has taken it to send it
		if code := a.takeBack(a.ada.User, sent); code != fault.NotPending {
			t.Errorf("what has left: %q", code)
		}
		a.j.answer(t, a.record, wire.Accepted, "")
		if code := a.takeBack(a.ada.User, sent); code != fault.NotPending {
			t.Errorf("what the edge has: %q", code)
		}
		elsewhere := a.conversation(t)
		if err := a.Runs.TakeBack(t.Context(), a.ada.User, elsewhere, sent); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("from another conversation: %v", err)
		}
		if code := a.takeBack(a.ada.User, id.NewSteer()); code != fault.NotFound {
			t.Errorf("what nobody said: %q", code)
		}
	})
}

func TestASteerThatAnEdgeRefusesIsTakenBackInTheLog(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.steered("go on")
		for range 2 {
			a.j.answer(t, a.record, wire.Unsupported, fault.Unsupported)
		}
		if !slices.Equal(a.told(), []event.Type{event.RunSteered, event.SteerWithdrawn}) || len(a.orders()) != 0 {
			t.Errorf("log %v", a.told())
		}
		a.steered("once more")
		commands := a.pending(t, a.j.edge)
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		receipt := wire.CommandReceipt{DeliveryID: commands[0].DeliveryID, RunID: a.n.ID, Status: wire.Rejected, Code: fault.TooLate}
		if err := a.Lanes.Receipt(t.Context(), a.j.edge, receipt); err != nil {
			t.Fatal(err)
		}
		if log := a.told(); log[len(log)-1] != event.RunCompleted || len(a.orders()) != 0 {
			t.Errorf("a run that is over: log %v", log)
		}
	})
}

func TestAnOrderThatIsNoFactLeavesTheLogAlone(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		for _, what := range []wire.ControlKind{wire.ControlRetryNow, wire.ControlCompact} {
			if done, err := a.Runs.Order(t.Context(), a.ada.User, a.get(t, a.n.ID), wire.ControlOrder{What: what}, nil); !done || err != nil {
				t.Fatalf("%s: %t, %v", what, done, err)
			}
		}
		if orders := a.orders(); len(orders) != 2 || orders[1].What != wire.ControlCompact || len(a.told()) != 0 {
			t.Errorf("orders %v, log %v", orders, a.told())
		}
		a.j.answer(t, a.record, wire.Rejected, fault.Unsupported)
		if len(a.orders()) != 0 || len(a.told()) != 0 {
			t.Errorf("refused: log %v", a.told())
		}
	})
}

func TestAnAgentIsToldOnceToMakeItsContextSmaller(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		compact := func(want fault.Code) {
			t.Helper()
			done, err := a.Runs.Order(t.Context(), a.ada.User, a.get(t, a.n.ID), wire.ControlOrder{What: wire.ControlCompact}, nil)
			if done != (want == "") || fault.CodeOf(err) != want {
				t.Fatalf("told %t, %v; want %q", done, err, want)
			}
		}
		compact("")
		compact(fault.Compacting) // it waits for the edge
		a.j.answer(t, a.record, wire.Rejected, fault.Busy)
		compact("")
		a.j.answer(t, a.record, wire.Accepted, "")
		compact(fault.Compacting) // the agent has yet to begin
		begin := event.CompactionBeginPayload{Reason: "manual", Mode: "summarize"}
		raw, err := event.Encode(begin)
		if err != nil {
			t.Fatal(err)
		}
		a.j.write(t, a.n.ID, event.WireOf(event.CompactionBegin, raw), begin)
		a.j.flush(t, a.record)
		compact("")
		a.j.answer(t, a.record, wire.Accepted, "")
		compact(fault.Compacting) // the compaction was another one
		a.age(accepted)
		compact("")
	})
}

// accepted makes what the edge has accepted older than an agent may take to begin with it.
const accepted = `UPDATE edge_commands SET receipt_at = 1, created_at = 1 WHERE state = 'done'`

func (a *asker) age(update string) {
	a.t.Helper()
	do(a.t, a.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, update)
		return err
	})
}

func TestACancelTakesBackWhatTheAgentWasToHear(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		sent := a.steered("go on")
		if len(a.orders()) != 1 { // it has left with this
			t.Fatal("nothing is on its way")
		}
		kept := a.steered("and on")
		a.cancel(t, a.n.ID)
		if code := a.takeBack(a.ada.User, sent); code != fault.NotPending {
			t.Errorf("what the agent may have was taken back: %q", code)
		}
		if code := a.takeBack(a.ada.User, kept); code != "" {
			t.Errorf("what had not left: %q", code)
		}
		if commands := a.pending(t, a.j.edge); len(commands) != 1 || commands[0].Kind != wire.Cancel {
			t.Errorf("commands %+v", commands)
		}
		if _, done, err := a.steer(a.ada.User, "no, go on", nil); done || err != nil {
			t.Errorf("a run that is being stopped: %t, %v", done, err)
		}
	})
}

func TestALostEdgeIsNotWaitedForBecauseOfAnOrder(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.steered("go on")
		lost := newJournal(a.j.edge) // its disk is empty
		lost.open(t, a.record)
		if got := a.get(t, a.n.ID); !got.State.Ended() {
			t.Errorf("the run is %s", got.State)
		}
	})
}

func TestTheRightsOfACommandCountAndCanSaysWhatAProfileCan(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		for _, control := range wire.Controls() {
			if can, err := a.Runs.Can(t.Context(), a.get(t, a.n.ID), control); !can || err != nil {
				t.Errorf("%s: %t, %v", control, can, err)
			}
			refusal := runlog.Unable("scout", control)
			if fault.CodeOf(refusal) != fault.UnsupportedByRuntime || !strings.Contains(refusal.Error(), "scout cannot") {
				t.Errorf("%s is refused by %v", control, refusal)
			}
		}
		a.fleet.grow(true)
		if can, err := a.Runs.Can(t.Context(), a.get(t, a.n.ID), wire.ThinkingLevels); can || err != nil {
			t.Errorf("an old edge: %t, %v", can, err)
		}
	})
}

// audited are the details of an act in the audit log.
func (a *asker) audited(act audit.Act) (details []string) {
	a.t.Helper()
	rows, err := a.store.readDB.QueryContext(a.t.Context(), `SELECT detail FROM audit_entries WHERE act = $1 ORDER BY seq`, string(act))
	details, err = collect(rows, err, func(row Scanner) (detail string, err error) {
		err = row.Scan(&detail)
		return detail, err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return details
}
