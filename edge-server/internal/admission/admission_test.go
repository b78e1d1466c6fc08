package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func TestRunIsLoggedFromStartToTerminal(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	if a.job.Run != c.RunID || a.job.Prompt != "say it" || a.job.AgentSession != "" || len(a.job.Nonce) != 32 {
		t.Errorf("job is %+v", a.job)
	}
	a.lines <- run.Delta{Text: "hello"}
	a.lines <- run.Done{}
	a.exit <- admission.Exit{Gone: true}
	types, terminal := e.log(t, c.RunID)
	want := []event.Type{event.RunStarted, event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunCompleted}
	if len(types) != len(want) || types[0] != want[0] || types[4] != want[4] {
		t.Errorf("log is %v", types)
	}
	if terminal == `{}` {
		t.Error("the terminal does not name the message")
	}
}

func TestExitWithoutAWordEndsTheRunByItsOutcome(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	e.stage.next(t).exit <- admission.Exit{
		Outcome: run.Failed(event.ErrorObj{Code: fault.AgentExited, Message: "exit 3"}), Gone: true,
	}
	e.expect(t, c.RunID, `{"error":{"code":"agent_exited","message":"exit 3","retryable":false}}`, event.RunStarted, event.RunFailed)
}

func TestFailedStartSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"fault":   {fault.New(fault.ProfileUnknown, "No such thing."), `{"error":{"code":"profile_unknown","message":"No such thing.","retryable":false}}`},
		"no room": {fault.New(fault.Busy, "Later."), `{"error":{"code":"busy","message":"Later.","retryable":true}}`},
		"other":   {errors.New("boom"), `{"error":{"code":"start_failed","message":"The agent could not be started: boom","retryable":false}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			s.failStart = tt.err
			e := start(t, t.TempDir(), s)
			c := newOrder()
			e.receive(t, c, wire.Accepted)
			e.expect(t, c.RunID, tt.want, event.RunFailed)
		})
	}
}

// However often a start is delivered, under the same delivery or another, one process is started (P13).
func TestRepeatedStartStartsOnce(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	first := e.receive(t, c, wire.Accepted)
	again := c
	again.DeliveryID, again.Lease = id.NewDelivery(), 2
	for range 3 {
		if r := e.receive(t, c, wire.Accepted); r != first {
			t.Errorf("repeat got %+v, first %+v", r, first)
		}
		e.receive(t, again, wire.Accepted)
	}
	e.stage.next(t).exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, c.RunID)
	late := c
	late.DeliveryID, late.Lease = id.NewDelivery(), 3
	if r := e.receive(t, late, wire.Rejected); r.Code != fault.RunEnded {
		t.Errorf("start of an ended run got %s", r.Code)
	}
	if n := e.stage.startsOf(c.RunID); n != 1 {
		t.Errorf("%d processes", n)
	}
}

func TestCommandsThatCannotBeTakenAreAnswered(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	taken := newOrder()
	taken.Lease = 5
	e.receive(t, taken, wire.Accepted)
	with := func(change func(*wire.Dispatch, *wire.Command)) wire.Command {
		c := newOrder()
		var d wire.Dispatch
		if err := json.Unmarshal(c.Body, &d); err != nil {
			t.Fatal(err)
		}
		change(&d, &c)
		if c.Body != nil {
			c.Body, _ = json.Marshal(d)
		}
		return c
	}
	for name, tt := range map[string]struct {
		command wire.Command
		status  wire.Status
		code    fault.Code
	}{
		"unknown kind":      {with(func(_ *wire.Dispatch, c *wire.Command) { c.Kind = "pause" }), wire.Unsupported, fault.Unsupported},
		"unknown profile":   {with(func(d *wire.Dispatch, _ *wire.Command) { d.Profile = "dodo" }), wire.Rejected, fault.ProfileUnknown},
		"no body":           {with(func(_ *wire.Dispatch, c *wire.Command) { c.Body = nil }), wire.Rejected, fault.InvalidRequest},
		"another task":      {with(func(d *wire.Dispatch, _ *wire.Command) { d.TaskID = id.NewRun() }), wire.Rejected, fault.InvalidRequest},
		"bad session":       {with(func(d *wire.Dispatch, _ *wire.Command) { d.SessionID = "../x" }), wire.Rejected, fault.InvalidRequest},
		"bad trace":         {with(func(d *wire.Dispatch, _ *wire.Command) { d.TraceID = "x" }), wire.Rejected, fault.InvalidRequest},
		"stale start":       {with(func(_ *wire.Dispatch, c *wire.Command) { c.RunID, c.Lease = taken.RunID, 4 }), wire.Rejected, fault.LeaseStale},
		"stale cancel":      {wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Cancel, RunID: taken.RunID, Lease: 4}, wire.Rejected, fault.LeaseStale},
		"cancel of nothing": {cancelOf(newOrder()), wire.Rejected, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			first := e.receive(t, tt.command, tt.status)
			if first.Code != tt.code || first.Detail == "" {
				t.Errorf("got %s %q, want %s", first.Code, first.Detail, tt.code)
			}
			if again := e.receive(t, tt.command, tt.status); again != first {
				t.Errorf("repeat got %+v, first %+v", again, first)
			}
		})
	}
	e.stage.next(t).exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, taken.RunID)
}

func TestCancelStopsTheProcessAndIsConfirmed(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	a.lines <- run.ToolCall{ID: "t1", Name: "Bash"}
	e.receive(t, cancelOf(c), wire.Accepted)
	<-a.stopped
	a.exit <- admission.Exit{Outcome: run.Failed(event.ErrorObj{Code: fault.AgentExited}), Gone: true}
	e.expect(t, c.RunID, `{"external_stop_confirmed":true}`, event.RunStarted, event.ToolStarted, event.ToolFailed, event.RunCancelled)
	if r := e.receive(t, cancelOf(c), wire.Rejected); r.Code != fault.TooLate {
		t.Errorf("late cancel got %s", r.Code)
	}
}

// An agent that the full journal holds back can still be stopped, and what the log says of it is whole: no open tool, one terminal.
func TestHeldBackAgentCanBeCancelled(t *testing.T) {
	e := startWith(t, t.TempDir(), newStage(), 100<<10)
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	said := make(chan int)
	speaking := supervise.NewGroup(context.Background())
	speaking.Go(func(ctx context.Context) error {
		for n := 0; ; n++ {
			select {
			case a.lines <- run.ToolCall{ID: strconv.Itoa(n), Name: strings.Repeat("x", 200)}:
			case <-a.stopped:
				said <- n
				return nil
			}
		}
	})
	for grown := e.journal.Appended(); !e.journal.Busy(); grown = e.journal.Appended() {
		<-grown
	}
	other := e.receive(t, newOrder(), wire.Rejected)
	if other.Code != fault.Busy {
		t.Errorf("another run got %s", other.Code)
	}
	e.receive(t, cancelOf(c), wire.Accepted)
	<-said
	a.exit <- admission.Exit{Gone: true}
	types, terminal := e.log(t, c.RunID)
	open := 0
	for _, typ := range types {
		switch typ {
		case event.ToolStarted:
			open++
		case event.ToolFailed:
			open--
		}
	}
	if open != 0 || terminal != `{"external_stop_confirmed":true}` {
		t.Errorf("%d tools are open, terminal %s", open, terminal)
	}
	if err := speaking.Wait(); err != nil {
		t.Error(err)
	}
}

func TestRunsBeyondThePlacesWaitAndSayWhy(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	var orders []wire.Command
	for range 3 {
		orders = append(orders, newOrder())
		e.receive(t, orders[len(orders)-1], wire.Accepted)
	}
	first, second := e.stage.next(t), e.stage.next(t)
	select {
	case <-e.stage.actors:
		t.Fatal("three runs on two places")
	case <-time.After(20 * time.Millisecond):
	}
	first.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.stage.next(t).exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	second.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.expect(t, orders[2].RunID, `{}`, event.RunQueued, event.RunStarted, event.RunCompleted)
	e.expect(t, orders[0].RunID, `{}`, event.RunStarted, event.RunCompleted)
}

// A limit of the profile holds from the moment on that it is written, and so does its end.
func TestLimitOfTheProfileIsReadAnewForEachTurn(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	e.stage.allow(1)
	orders := []wire.Command{newOrder(), newOrder()}
	e.receive(t, orders[0], wire.Accepted)
	first := e.stage.next(t)
	e.receive(t, orders[1], wire.Accepted)
	select {
	case <-e.stage.actors:
		t.Fatal("two runs where one is allowed")
	case <-time.After(20 * time.Millisecond):
	}
	e.stage.allow(2)
	second := e.stage.next(t)
	for _, a := range []*actor{first, second} {
		a.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	}
	e.expect(t, orders[1].RunID, `{}`, event.RunQueued, event.RunStarted, event.RunCompleted)
	events, err := e.journal.Events(t.Context(), orders[1].RunID)
	if err != nil || !strings.Contains(string(events[0].Payload), "max_runs: 1") {
		t.Errorf("the run says %s, %v", events[0].Payload, err)
	}
}

// Turns of one agent in one conversation are taken one after the other, in order, and each gets the agent's own session of the one before.
func TestTurnsOfOneDialogueAreTakenInOrderAndShareTheAgentSession(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	session, agent := id.NewSession(), id.NewAgent()
	var orders []wire.Command
	for range 3 {
		orders = append(orders, order(session, agent))
		e.receive(t, orders[len(orders)-1], wire.Accepted)
	}
	want := []admission.AgentSession{"", "s-1", "s-1"}
	for i, c := range orders {
		a := e.stage.next(t)
		if a.job.Run != c.RunID || a.job.AgentSession != want[i] {
			t.Errorf("turn %d is %+v", i, a.job)
		}
		if i == 0 {
			for _, name := range []string{"", "bad\x00", "s-1", "s-2"} {
				a.lines <- run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{AgentSessionID: name}}
			}
		}
		a.exit <- admission.Exit{Outcome: run.Failed(event.ErrorObj{Code: fault.AgentError}), Gone: true} // kept though the turn fails
	}
	e.log(t, orders[2].RunID)
}

func TestCancelOfAWaitingRunStartsNothing(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	session, agent := id.NewSession(), id.NewAgent()
	busy, waiting := order(session, agent), order(session, agent)
	e.receive(t, busy, wire.Accepted)
	e.receive(t, waiting, wire.Accepted)
	a := e.stage.next(t)
	e.receive(t, cancelOf(waiting), wire.Accepted)
	e.expect(t, waiting.RunID, `{"external_stop_confirmed":true}`, event.RunQueued, event.RunCancelled)
	a.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, busy.RunID)
	if n := e.stage.startsOf(waiting.RunID); n != 0 {
		t.Errorf("%d processes", n)
	}
}
