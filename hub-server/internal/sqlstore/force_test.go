package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (a *asker) force() runlog.Run {
	a.t.Helper()
	found, err := a.Runs.Force(a.t.Context(), a.n.ID, a.ada.User)
	if err != nil {
		a.t.Fatal(err)
	}
	return found
}

// away lets the edge of the run be gone.
func (a *asker) away() { a.fleet.set(a.j.edge, false) }

const interruptedByForce = `{"reason_code":"forced"}`

// forcings are runs at every point of their life, seen by a hub whose edge is away.
var forcings = map[string]struct {
	prepare func(a *asker)
	want    run.State
	log     []event.Type // after what prepare has put there
	last    string
	orders  []wire.Kind // that wait for the edge
}{
	"queued for an edge": {
		func(a *asker) {
			a.away()
			a.n = a.start(a.t, a.n.Session)
		},
		run.StateCancelled, []event.Type{event.RunCancelling, event.RunCancelled}, `{"external_stop_confirmed":true}`, nil,
	},
	"about to be sent": {
		func(a *asker) { a.n = a.start(a.t, a.n.Session); a.away() },
		run.StateCancelled, []event.Type{event.RunCancelling, event.RunCancelled}, `{"external_stop_confirmed":true}`, nil,
	},
	"sent, and nobody knows whether it came": {
		func(a *asker) { a.n = a.start(a.t, a.n.Session); a.pending(a.t, a.j.edge); a.away() },
		run.StateInterrupted, []event.Type{event.RunCancelling, event.RunInterrupted}, interruptedByForce, []wire.Kind{wire.Cancel},
	},
	"at work": {
		func(a *asker) {
			msg := id.NewMessage()
			a.j.write(a.t, a.n.ID, wireBegun, event.MessageStartedPayload{MessageID: msg, Role: "assistant"})
			a.j.write(a.t, a.n.ID, wireDelta, event.DeltaPayload{MessageID: msg, Delta: "half"})
			a.j.write(a.t, a.n.ID, wireToolCall, event.ToolStartedPayload{ToolCallID: "t1", ToolName: "Bash", Arguments: json.RawMessage(`{}`)})
			a.j.flush(a.t, a.record)
			a.away()
		},
		run.StateInterrupted, []event.Type{event.RunCancelling, event.MessageDone, event.ToolFailed, event.RunInterrupted}, interruptedByForce,
		[]wire.Kind{wire.Cancel},
	},
	"waiting for a person": {
		func(a *asker) { a.ask(event.Person, `{}`); a.away() },
		run.StateInterrupted, []event.Type{event.RunCancelling, event.RunInterrupted}, interruptedByForce, []wire.Kind{wire.Cancel},
	},
	"answered, and the edge has not heard it": {
		func(a *asker) { a.must(a.ask(event.Person, `{}`), event.Allow); a.pending(a.t, a.j.edge); a.away() },
		run.StateInterrupted, []event.Type{event.RunCancelling, event.RunInterrupted}, interruptedByForce, []wire.Kind{wire.Cancel},
	},
	"waiting for a person without a process": {
		func(a *asker) { a.limit(a.ask(event.Person, `{}`)); a.away() },
		run.StateCancelled, []event.Type{event.RunCancelling, event.RunCancelled}, `{"external_stop_confirmed":true}`, nil,
	},
	"being stopped by an edge that has gone": {
		func(a *asker) { a.cancel(a.t, a.n.ID); a.away() },
		run.StateInterrupted, []event.Type{event.RunInterrupted}, interruptedByForce, []wire.Kind{wire.Cancel},
	},
	"being stopped by an edge that took the order and never ends": {
		func(a *asker) { a.cancel(a.t, a.n.ID); a.j.answer(a.t, a.record, wire.Accepted, "") },
		run.StateInterrupted, []event.Type{event.RunInterrupted}, interruptedByForce, nil,
	},
}

func TestAForcedRunEndsAtOnceWhateverItsEdgeDoes(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		for name, c := range forcings {
			t.Run(name, func(t *testing.T) {
				a := newAsker(t, newRecord(t, r.store, r.writer)) // with a fleet of its own
				c.prepare(a)
				before := len(a.logOf(t, a.n.ID))
				if found := a.force(); found.State != c.want || found.EndedAt.IsZero() || found.Unknown {
					t.Errorf("run %+v, want it %s", found, c.want)
				}
				log := a.logOf(t, a.n.ID)
				if got := typesOf(log[before:]); !slices.Equal(got, c.log) || string(log[len(log)-1].Payload) != c.last {
					t.Errorf("the end is %v %s, want %v %s", got, log[len(log)-1].Payload, c.log, c.last)
				}
				for _, p := range a.list() {
					if p.State == prompt.Pending {
						t.Errorf("somebody is still asked: %+v", p)
					}
				}
				var orders []wire.Kind
				for _, o := range a.pending(t, a.j.edge) {
					orders = append(orders, o.Kind)
				}
				if !slices.Equal(orders, c.orders) {
					t.Errorf("the edge will hear %v, want %v", orders, c.orders)
				}
				a.forcedAgain(len(log))
			})
		}
	})
}

// forcedAgain checks that another attempt finds the run as it is and leaves no trace.
func (a *asker) forcedAgain(events int) {
	a.t.Helper()
	entries, last := since(a.t, a.store, 0)
	found, err := a.Runs.Force(a.t.Context(), a.n.ID, a.ada.User)
	if found.State != run.StateCancelled && fault.CodeOf(err) != fault.RunEnded {
		a.t.Errorf("forced again: %s, %v", found.State, err)
	}
	if now := a.get(a.t, a.n.ID); int(now.LastEventSeq) != events {
		a.t.Errorf("forced again, the log grew from %d to %d", events, now.LastEventSeq)
	}
	if more, _ := since(a.t, a.store, last); len(more) > 0 {
		a.t.Errorf("forced again, the audit log has %+v beside %+v", more, entries)
	}
}

func TestSEC25AForcedEndIsEnteredWithWhoForcedIt(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob := id.NewUser()
		a.cancel(t, a.n.ID)
		if _, err := a.Runs.Force(t.Context(), a.n.ID, bob); err != nil {
			t.Fatal(err)
		}
		got, _ := since(t, a.store, 0)
		want := []audit.Entry{
			{Act: audit.RunCancelled, User: a.ada.User, Target: string(a.n.ID)},
			{Act: audit.RunForced, User: bob, Target: string(a.n.ID)},
		}
		if !slices.Equal(got, want) {
			t.Errorf("entered %+v\nwant %+v", got, want)
		}
	})
}

func TestWhatAnEdgeReportsAfterAForcedEndIsLate(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.away()
		ended := a.force()
		a.fleet.set(a.j.edge, true)
		a.j.open(t, a.record)
		final := a.j.say(t, a.n.ID, "the whole")
		a.j.write(t, a.n.ID, wireFinished, event.RunCompletedPayload{MessageID: final})
		a.j.flush(t, a.record)
		if orders := a.j.answer(t, a.record, wire.Accepted, ""); len(orders) != 1 || orders[0].Kind != wire.Cancel {
			t.Errorf("the edge is told %+v, want one order to end the processes", orders)
		}
		a.j.write(t, a.n.ID, wireCancelled, event.RunCancelledPayload{ExternalStopConfirmed: true})
		a.j.flush(t, a.record)
		late := a.logOf(t, a.n.ID)[ended.LastEventSeq:]
		want := []event.Type{event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunLateOutcome, event.RunLateOutcome}
		if !slices.Equal(typesOf(late), want) || slices.ContainsFunc(late, func(e runlog.StoredEvent) bool { return !e.Late }) {
			t.Errorf("after the end came %+v, want %v, all late", late, want)
		}
		if now := a.get(t, a.n.ID); now.State != run.StateInterrupted || !now.EndedAt.Equal(ended.EndedAt) {
			t.Errorf("run %+v, was %+v", now, ended)
		}
		if got := a.messagesOf(t, a.n.Session); !slices.Equal(got, []string{"the whole"}) {
			t.Errorf("messages are %q", got)
		}
	})
}

// The edge is there and goes on talking: a log that grows all the time can be ended too.
func TestARunIsForcedToItsEndWhileItsEdgeGoesOnReporting(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		ctx, stop := context.WithCancel(t.Context())
		begun := make(chan struct{})
		var edge sync.WaitGroup
		edge.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				a.j.write(t, a.n.ID, "run.agent.status_change", json.RawMessage(`{"status":"busy"}`))
				a.j.flush(t, a.record)
				if n == 20 {
					close(begun)
				}
			}
		})
		<-begun
		found := a.force()
		stop()
		edge.Wait()
		if found.State != run.StateInterrupted {
			t.Errorf("run is %s", found.State)
		}
	})
}

func TestAnInterruptedRunThatItsEdgeMayStillWorkOnCanBeStopped(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.must(a.ask(event.Person, `{}`), event.Allow)
		a.j.write(t, a.n.ID, "run.interrupted", event.RunInterruptedPayload{ReasonCode: fault.EdgeAbsent}) // stands for the watch
		a.j.flush(t, a.record)
		for range 2 {
			if _, err := a.Runs.Cancel(t.Context(), a.n.ID, a.ada.User); fault.CodeOf(err) != fault.RunEnded {
				t.Errorf("got %v, want RunEnded", err)
			}
		}
		if orders := a.pending(t, a.j.edge); len(orders) != 1 || orders[0].Kind != wire.Cancel || !a.signer.CheckCommand(a.j.edge, orders[0]) {
			t.Errorf("the edge will hear %+v, want one cancel", orders)
		}
		if got, _ := since(t, a.store, 0); len(got) != 2 || got[1].Act != audit.RunCancelled {
			t.Errorf("entered %+v", got)
		}
		if now := a.get(t, a.n.ID); now.State != run.StateInterrupted {
			t.Errorf("run is %s", now.State)
		}
	})
}
