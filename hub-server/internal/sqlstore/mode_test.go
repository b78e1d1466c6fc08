package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (a *asker) setMode(by id.User, mode wire.ApprovalMode) error {
	a.t.Helper()
	return a.Runs.SetMode(a.t.Context(), by, a.n.Session, mode)
}

func (a *asker) mode(user id.User) wire.ApprovalMode {
	a.t.Helper()
	mode, err := a.Runs.ModeOf(a.t.Context(), a.n.Session, user)
	if err != nil {
		a.t.Fatal(err)
	}
	return mode
}

// prepare makes another run of the agent ready.
func (a *asker) prepare(alone bool) runlog.NewRun {
	a.t.Helper()
	n, err := a.Dispatcher.Prepare(a.t.Context(), runlog.Request{
		Session: a.n.Session, Agent: fleet.Agent{ID: a.n.Agent, Name: "scout", Owner: a.fleet.owner, Profile: "scout", Runtime: "events"},
		Prompt: "once more", RequestedBy: a.fleet.owner, TraceID: traceID, Alone: alone,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

func (a *asker) launch(n runlog.NewRun) error {
	a.t.Helper()
	return a.writer.Do(a.t.Context(), runLocks(n), func(ctx context.Context, tx *Tx) error { return tx.startRun(ctx, n.RequestedBy, n) })
}

// modeIn is the mode that an edge is told with a start.
func modeIn(t *testing.T, c *wire.Command) wire.ApprovalMode {
	t.Helper()
	d, err := wire.Decode[wire.Dispatch](c.Body)
	if err != nil {
		t.Fatal(err)
	}
	return d.ApprovalMode
}

func TestAModeGoesToTheRunsOfItsPersonAndIsAudited(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob := id.NewUser()
		a.admit(bob)
		a.grant(bob)
		for range 2 { // the second changes nothing
			if err := a.setMode(bob, wire.AllowAll); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.orders()) != 0 || a.mode(bob) != wire.AllowAll || a.mode(a.ada.User) != "" {
			t.Errorf("orders %v to ada's run, modes %q and %q", a.orders(), a.mode(bob), a.mode(a.ada.User))
		}
		if err := a.setMode(a.ada.User, wire.DenyAll); err != nil {
			t.Fatal(err)
		}
		if orders := a.orders(); len(orders) != 1 || orders[0].What != wire.ControlApprovalMode || orders[0].Mode != wire.DenyAll {
			t.Errorf("orders %+v", orders)
		}
		if got := a.audited(audit.ModeChosen); !slices.Equal(got, []string{"allow-all", "deny-all"}) {
			t.Errorf("audited %v", got)
		}
		n := a.prepare(false)
		if got := modeIn(t, n.Command); got != wire.DenyAll {
			t.Errorf("the next run is started with %q", got)
		}
	})
}

func TestOnlyWhoMayOperateAnAgentThereHasAMode(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob := id.NewUser()
		if err := a.setMode(bob, wire.AllowAll); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a stranger: %v", err)
		}
		a.admit(bob)
		if err := a.setMode(bob, wire.AllowAll); fault.CodeOf(err) != fault.AgentOperateRequired {
			t.Errorf("a member: %v", err)
		}
		if a.mode(bob) != "" || len(a.audited(audit.ModeChosen)) != 0 {
			t.Errorf("mode %q", a.mode(bob))
		}
	})
}

func TestARunThatWasPreparedInAnotherModeIsNotStarted(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		early := a.prepare(false)
		if err := a.setMode(a.ada.User, wire.DenyAll); err != nil {
			t.Fatal(err)
		}
		if err := a.launch(early); !errors.Is(err, chat.ErrMoved) {
			t.Errorf("the run was started without the mode: %v", err)
		}
		if err := a.launch(a.prepare(false)); err != nil {
			t.Errorf("prepared anew: %v", err)
		}
	})
}

func TestAWaitingRunIsHandedOverInTheModeOfThatMoment(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.fleet.set(a.j.edge, false)
		waiting := a.prepare(false)
		if err := a.launch(waiting); err != nil || waiting.Command != nil {
			t.Fatalf("%v, command %v", err, waiting.Command)
		}
		if err := a.setMode(a.ada.User, wire.AlwaysAsk); err != nil {
			t.Fatal(err)
		}
		a.pending(t, a.j.edge)
		a.fleet.set(a.j.edge, true)
		a.fleet.grow(true)
		if err := a.Runs.DispatchWaiting(t.Context(), a.j.edge); err != nil {
			t.Fatal(err)
		}
		if got := a.get(t, waiting.ID); got.State != run.StateWaitingEdge || got.WaitsFor == "" {
			t.Errorf("an old edge got the run: %s, %q", got.State, got.WaitsFor)
		}
		a.fleet.grow(false)
		if err := a.Runs.DispatchWaiting(t.Context(), a.j.edge); err != nil {
			t.Fatal(err)
		}
		commands := a.pending(t, a.j.edge)
		if last := commands[len(commands)-1]; last.RunID != waiting.ID || modeIn(t, &last) != wire.AlwaysAsk {
			t.Errorf("commands %+v", commands)
		}
	})
}

func TestAModeThatARunWouldNotKeepToIsRefused(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.fleet.grow(true)
		if err := a.setMode(a.ada.User, wire.DenyAll); fault.CodeOf(err) != fault.UnsupportedByRuntime {
			t.Errorf("on an old edge: %v", err)
		}
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		if err := a.setMode(a.ada.User, wire.DenyAll); err != nil {
			t.Errorf("with nothing at work: %v", err)
		}
		if n := a.prepare(false); n.Command != nil {
			t.Error("an old edge gets a run that it would not keep to the mode of")
		}
	})
}

func TestWhoComesBackHasNoModeAnyMore(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob := w.person("ada"), w.person("bob")
		s := w.group(ada, userOf(bob))
		do(w.t, w.chat.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE session_members SET approval_mode = 'allow-all' WHERE member_id = $1`, string(bob.ID))
			return err
		})
		w.leave(s.ID, userOf(bob))
		w.must(w.join(s.ID, ada, bob))
		if mode, err := w.runs.ApprovalMode(w.ctx(), s.ID, bob.ID); err != nil || mode != "" {
			w.t.Errorf("mode %q, %v", mode, err)
		}
	})
}

func TestARunThatMustBeAloneIsNotStoredBesideAnother(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		if err := a.launch(a.prepare(true)); fault.CodeOf(err) != fault.TaskInProgress {
			t.Errorf("beside a run at work: %v", err)
		}
		a.j.write(t, a.n.ID, wireFinished, json.RawMessage(`{}`))
		a.j.flush(t, a.record)
		both := together(2, func(int) error { return a.launch(a.prepare(true)) })
		stored := slices.DeleteFunc(both, func(err error) bool { return err != nil })
		if len(stored) != 1 {
			t.Errorf("%d of two were stored", len(stored))
		}
		if active, err := a.Runs.Active(t.Context(), a.n.Session); err != nil || len(active) != 1 {
			t.Errorf("active %+v, %v", active, err)
		}
	})
}

func TestARunThatNeedsWhatNoProfileCanIsRefusedAtOnce(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := runlog.Request{
			Session: a.n.Session, Agent: fleet.Agent{ID: a.n.Agent, Name: "scout", Owner: a.fleet.owner, Profile: "scout", Runtime: "events"},
			RequestedBy: a.fleet.owner, TraceID: traceID, Compact: true,
		}
		n, err := a.Dispatcher.Prepare(t.Context(), request)
		if err != nil || n.Command == nil {
			t.Fatalf("%v, command %v", err, n.Command)
		}
		if d, err := wire.Decode[wire.Dispatch](n.Command.Body); err != nil || !d.Compact || d.Prompt != "" {
			t.Errorf("dispatch %+v, %v", d, err)
		}
		a.fleet.grow(true)
		if _, err := a.Dispatcher.Prepare(t.Context(), request); fault.CodeOf(err) != fault.UnsupportedByRuntime {
			t.Errorf("an agent that cannot: %v", err)
		}
		request.Compact, request.Prompt, request.Thinking = false, "go", "high"
		if _, err := a.Dispatcher.Prepare(t.Context(), request); fault.CodeOf(err) != fault.UnsupportedByRuntime {
			t.Errorf("an agent that cannot: %v", err)
		}
	})
}

func TestARunWhoseEdgeRefusesAModeDoesNotGoOnUnnoticed(t *testing.T) {
	for name, c := range map[string]struct {
		mode  wire.ApprovalMode
		code  fault.Code
		state run.State
		told  []event.Type
	}{
		"stricter": {wire.DenyAll, fault.Unsupported, run.StateCancelling, []event.Type{event.RunCancelling}},
		"looser":   {wire.AllowAll, fault.InvalidRequest, run.StateRunning, []event.Type{event.RunNotice}},
		"too late": {wire.DenyAll, fault.TooLate, run.StateRunning, nil},
	} {
		t.Run(name, func(t *testing.T) {
			eachAsker(t, func(t *testing.T, a *asker) {
				if err := a.setMode(a.ada.User, c.mode); err != nil {
					t.Fatal(err)
				}
				commands := a.pending(t, a.j.edge)
				if len(commands) != 1 {
					t.Fatalf("commands %+v", commands)
				}
				receipt := wire.CommandReceipt{DeliveryID: commands[0].DeliveryID, RunID: a.n.ID, Status: wire.Rejected, Code: c.code}
				for range 2 {
					if err := a.Lanes.Receipt(t.Context(), a.j.edge, receipt); err != nil {
						t.Fatal(err)
					}
				}
				if got := a.state(); got != c.state || !slices.Equal(a.told(), c.told) {
					t.Errorf("the run is %s, its log %v", got, a.told())
				}
			})
		})
	}
}

// A hub from before modes would claim runs, and let people write where they may only read.
func TestNobodyHasAModeAndNothingIsImportedWhileAnOlderHubLives(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		old := older(a.store, a.writer)
		if err := old.Announce(t.Context(), "old", time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := a.setMode(a.ada.User, wire.DenyAll); fault.CodeOf(err) != fault.Busy || a.mode(a.ada.User) != "" {
			t.Errorf("mode %q, %v", a.mode(a.ada.User), err)
		}
		if err := NewChat(a.store, a.writer).Import(t.Context(), chat.Import{}, account.Claim{}); fault.CodeOf(err) != fault.Busy {
			t.Errorf("imported: %v", err)
		}
		if err := old.Leave(t.Context(), "old"); err != nil {
			t.Fatal(err)
		}
		if err := a.setMode(a.ada.User, wire.DenyAll); err != nil || a.mode(a.ada.User) != wire.DenyAll {
			t.Errorf("mode %q, %v", a.mode(a.ada.User), err)
		}
		var now Format
		if err := a.store.readDB.QueryRowContext(t.Context(), `SELECT format FROM store_counter`).Scan(&now); err != nil || now != FormatControls {
			t.Errorf("format %d, %v", now, err)
		}
	})
}
