package admission_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/admission"
	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// controlOf is the command that tells a run something.
func controlOf(c wire.Command, o wire.ControlOrder) wire.Command {
	body, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.Control, RunID: c.RunID, Lease: c.Lease, Body: body}
}

func steer(text string) wire.ControlOrder {
	return wire.ControlOrder{What: wire.ControlSteer, SteerID: id.NewSteer(), Text: text}
}

func mode(m wire.ApprovalMode) wire.ControlOrder {
	return wire.ControlOrder{What: wire.ControlApprovalMode, Mode: m}
}

// heard is what an agent was told so far.
func (a *actor) heard() (all []wire.ControlOrder) {
	for len(a.told) > 0 {
		all = append(all, <-a.told)
	}
	return all
}

func done() admission.Exit { return admission.Exit{Outcome: run.Completed(), Gone: true} }

func TestWhatARunIsToldReachesItOnceAndInOrder(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	a.lines <- run.StateChange{State: "works"} // its process is known from here on
	first, second, third := steer("one"), mode(wire.DenyAll), steer("two")
	k := controlOf(c, first)
	recorded := e.receive(t, k, wire.Accepted)
	e.receive(t, controlOf(c, second), wire.Accepted)
	e.receive(t, controlOf(c, third), wire.Accepted)
	for range 3 {
		if r := e.receive(t, k, wire.Accepted); r != recorded {
			t.Errorf("repeat got %+v, first %+v", r, recorded)
		}
	}
	if got := a.heard(); !slices.Equal(got, []wire.ControlOrder{first, second, third}) {
		t.Errorf("the agent was told %+v", got)
	}
	a.exit <- done()
	e.log(t, c.RunID)
}

// A run that waits for its turn hears what it was told when it starts, also if the edge was started again in between.
func TestWhatARunIsToldBeforeItStartsItHearsThen(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, newStage())
	session, agent := id.NewSession(), id.NewAgent()
	live, waiting := order(session, agent), order(session, agent)
	e.receive(t, live, wire.Accepted)
	e.receive(t, waiting, wire.Accepted)
	a := e.stage.next(t)
	want := []wire.ControlOrder{steer("one"), mode(wire.AllowAll), mode(wire.AlwaysAsk)}
	for _, o := range want {
		e.receive(t, controlOf(waiting, o), wire.Accepted)
	}
	a.exit <- admission.Exit{Gone: true}
	e.stop()
	next := start(t, home, newStage())
	b := next.stage.next(t)
	for b.job.Run != waiting.RunID { // the first one may have had its end in time, and this one its start
		t.Fatalf("%s was started again", b.job.Run)
	}
	b.lines <- run.StateChange{State: "works"}
	if got := b.heard(); !slices.Equal(got, want) {
		t.Errorf("the agent was told %+v", got)
	}
	b.exit <- done()
	next.log(t, waiting.RunID)
}

// What a newer hub may say: whoever chose it wants to be asked rather than not.
func TestAModeThatIsNotKnownAsksAPerson(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	a.lines <- run.StateChange{State: "works"}
	e.receive(t, controlOf(c, mode("maybe")), wire.Accepted)
	if got := a.heard(); !slices.Equal(got, []wire.ControlOrder{mode(wire.AlwaysAsk)}) {
		t.Errorf("the agent was told %+v", got)
	}
	a.exit <- done()
	e.log(t, c.RunID)
}

func TestWhatARunCannotBeToldIsRecordedAsSuch(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	session, agent := id.NewSession(), id.NewAgent()
	live, waiting, over := order(session, agent), order(session, agent), newOrder()
	live.Lease = 5
	for _, c := range []wire.Command{live, waiting, over} {
		e.receive(t, c, wire.Accepted)
	}
	actors := map[id.Run]*actor{}
	for range 2 {
		a := e.stage.next(t)
		actors[a.job.Run] = a
	}
	actors[over.RunID].exit <- done()
	e.log(t, over.RunID)
	actors[live.RunID].lines <- run.StateChange{State: "works"}
	stale, broken := controlOf(live, steer("x")), controlOf(live, steer("x"))
	stale.Lease, broken.Body = 4, json.RawMessage(`{"what":7}`)
	for name, tt := range map[string]struct {
		command   wire.Command
		unwilling error
		status    wire.Status
		want      fault.Code
	}{
		"of an unknown run":                {controlOf(newOrder(), steer("x")), nil, wire.Rejected, fault.NotFound},
		"of a run that has ended":          {controlOf(over, steer("x")), nil, wire.Rejected, fault.TooLate},
		"a mode of a run that has ended":   {controlOf(over, mode(wire.AllowAll)), nil, wire.Rejected, fault.TooLate},
		"of an older dispatch":             {stale, nil, wire.Rejected, fault.LeaseStale},
		"that cannot be read":              {broken, nil, wire.Rejected, fault.InvalidRequest},
		"nothing":                          {controlOf(live, steer(" ")), nil, wire.Rejected, fault.EmptyPrompt},
		"what no run can be told":          {controlOf(live, wire.ControlOrder{What: "dance"}), nil, wire.Unsupported, fault.Unsupported},
		"what waits and cannot":            {controlOf(waiting, wire.ControlOrder{What: wire.ControlCompact}), nil, wire.Unsupported, fault.UnsupportedByRuntime},
		"what works and cannot":            {controlOf(live, steer("x")), fault.New(fault.UnsupportedByRuntime, "No."), wire.Unsupported, fault.UnsupportedByRuntime},
		"an agent that has come to an end": {controlOf(live, steer("x")), fault.New(fault.TooLate, "Over."), wire.Rejected, fault.TooLate},
	} {
		t.Run(name, func(t *testing.T) {
			actors[live.RunID].unwilling = tt.unwilling
			first := e.receive(t, tt.command, tt.status)
			if first.Code != tt.want || first.Detail == "" {
				t.Errorf("got %s %q, want %s", first.Code, first.Detail, tt.want)
			}
			actors[live.RunID].unwilling = nil
			if again := e.receive(t, tt.command, tt.status); again != first {
				t.Errorf("repeat got %+v, first %+v", again, first)
			}
		})
	}
	for i := range 128 {
		e.receive(t, controlOf(waiting, steer(fmt.Sprint(i))), wire.Accepted)
	}
	if r := e.receive(t, controlOf(waiting, steer("more")), wire.Rejected); r.Code != fault.Busy {
		t.Errorf("what is too much got %s", r.Code)
	}
	e.receive(t, cancelOf(live), wire.Accepted)
	if r := e.receive(t, controlOf(live, steer("x")), wire.Rejected); r.Code != fault.TooLate {
		t.Errorf("a run that is being stopped got %s", r.Code)
	}
	if got := actors[live.RunID].heard(); len(got) > 0 {
		t.Errorf("the agent was told %+v", got)
	}
	actors[live.RunID].exit <- admission.Exit{Gone: true}
	b := e.stage.next(t)
	b.lines <- run.StateChange{State: "works"}
	if got := b.heard(); len(got) != 128 || got[127].Text != "127" {
		t.Errorf("the agent that waited was told %d things", len(got))
	}
	b.exit <- done()
	e.log(t, waiting.RunID)
}

// The edge is killed behind the record of a steer: the process that should have heard it is gone, and no other one hears it.
func TestASteerIsNotToldTwiceWhenTheEdgeIsKilled(t *testing.T) {
	home := t.TempDir()
	c := newOrder()
	k := controlOf(c, steer("one"))
	receipt := wire.CommandReceipt{DeliveryID: k.DeliveryID, RunID: c.RunID, Status: wire.Accepted}
	crashed(t, home, func(j *journal.Journal) {
		must(t, j.AnswerStart(t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
		must(t, j.Intend(t.Context(), c.RunID, "nonce"))
		from := journal.Origin{Scope: event.Scope{RunID: c.RunID}}
		must(t, j.CommitStarted(t.Context(), from, 1, run.Candidate{Type: event.RunStarted, Payload: event.RunStartedPayload{}}))
		must(t, j.AnswerAgain(t.Context(), k, receipt))
	})
	e := start(t, home, newStage())
	if r := e.receive(t, k, wire.Accepted); r != receipt {
		t.Errorf("the repeat got %+v", r)
	}
	e.expect(t, c.RunID, `{"reason_code":"process_lost"}`, event.RunStarted, event.RunInterrupted)
	if n := e.stage.startsOf(c.RunID); n != 0 {
		t.Errorf("started %d times", n)
	}
}

func TestAnApprovalModeThatIsNotKnownAsksAPerson(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	for said, want := range map[wire.ApprovalMode]wire.ApprovalMode{"": "", wire.AllowAll: wire.AllowAll, "of-a-newer-hub": wire.AlwaysAsk} {
		c := newOrder()
		var d wire.Dispatch
		must(t, json.Unmarshal(c.Body, &d))
		d.ApprovalMode, d.ThinkingLevel, d.Compact = said, "high", true
		body, err := json.Marshal(d)
		must(t, err)
		c.Body = body
		e.receive(t, c, wire.Accepted)
		a := e.stage.next(t)
		if a.job.Approval != want || a.job.Thinking != "high" || !a.job.Compact {
			t.Errorf("%q became %+v", said, a.job)
		}
		a.exit <- done()
		e.log(t, c.RunID)
	}
}
