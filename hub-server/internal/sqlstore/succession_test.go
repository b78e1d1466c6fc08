package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// limit lets the edge end the process of the run at its turn limit.
func (a *asker) limit(pending ...id.Request) {
	a.t.Helper()
	a.ended(event.EndedAtTurnLimit, pending...)
}

// ended lets the edge report the end of the process.
func (a *asker) ended(why event.EndReason, pending ...id.Request) {
	a.t.Helper()
	a.j.write(a.t, a.n.ID, wireEnded, event.ProcessEndedPayload{Reason: why, Code: why.Code(), Pending: pending})
	a.j.flush(a.t, a.record)
}

// next returns the run that goes on with the answers, with what its edge is told.
func (a *asker) next() (runlog.Run, wire.Dispatch) {
	a.t.Helper()
	old := a.get(a.t, a.n.ID)
	if old.ContinuedBy == "" {
		a.t.Fatalf("run is %s and goes on nowhere", old.State)
	}
	found, err := NewRunlog(a.store, a.writer, "hub").Dispatched(a.t.Context(), old.ContinuedBy)
	if err != nil {
		a.t.Fatal(err)
	}
	var d wire.Dispatch
	if err := json.Unmarshal(found.Dispatch, &d); err != nil {
		a.t.Fatal(err)
	}
	return found.Run, d
}

func TestR21AnAnswerAfterTheTurnLimitGoesOnInAnotherRun(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{"command":"ls"}`)
		a.limit(request)
		if old := a.get(t, a.n.ID); old.State != run.StateWaitingPerson || !old.ProcessEnded || a.list()[0].State != prompt.Pending {
			t.Fatalf("run %+v", old)
		}
		p := a.must(request, event.Allow)
		old := a.get(t, a.n.ID)
		if old.State != run.StateFailed || old.Error.Code != fault.Timeout || p.Answer.ContinuedBy != old.ContinuedBy {
			t.Errorf("run %+v, answer %+v", old, p.Answer)
		}
		want := []event.Type{event.RunStarted, event.PromptRequested, event.RunProcessEnded, event.PromptAnswered, event.RunFailed}
		if got := typesOf(a.logOf(t, a.n.ID)); !slices.Equal(got, want) {
			t.Errorf("log %v, want %v", got, want)
		}
		next, d := a.next()
		if next.Continues != a.n.ID || next.State != run.StateDispatched || next.Edge != a.j.edge || next.Session != a.n.Session ||
			next.Agent != a.n.Agent || next.RequestedBy != a.ada.User {
			t.Errorf("next %+v", next)
		}
		if d.TaskID != next.ID || d.Prompt != `The request to use Bash with {"command":"ls"} was allowed. Go on.` {
			t.Errorf("dispatch %+v", d)
		}
		for of, told := range map[id.Run]string{a.n.ID: "", next.ID: d.Prompt} {
			if r, err := a.store.runAt(t.Context(), map[id.Run]omni.Run{}, of); err != nil || r.Told != told {
				t.Errorf("of %s the fold is told %+v, %v", of, r, err)
			}
		}
		grant := wire.Grant{RequestID: request, Digest: p.Digest}
		if c := d.Continues; c == nil || c.RunID != a.n.ID || c.RequestID != request || c.Decision != event.Allow || len(c.Grants) != 1 ||
			c.Grants[0].RequestID != grant.RequestID || c.Grants[0].Digest != grant.Digest {
			t.Errorf("continues %+v", d.Continues)
		}
		if again := a.must(request, event.Allow); again.Answer.ContinuedBy != next.ID {
			t.Errorf("the same answer again goes on in %s", again.Answer.ContinuedBy)
		}
		if got := a.answers(); len(got) != 0 {
			t.Errorf("a process that is gone is answered: %+v", got)
		}
	})
}

func TestAQuestionOutlivesAProcessThatWasLost(t *testing.T) {
	for why, code := range map[event.EndReason]fault.Code{event.EndedUnseen: fault.ProcessLost, event.EndedWithEdge: fault.EdgeStopped} {
		eachAsker(t, func(t *testing.T, a *asker) {
			request := a.ask(event.Person, `{}`)
			a.ended(why, request)
			if got := a.list()[0]; got.State != prompt.Pending || !got.Outlived || a.state() != run.StateWaitingPerson {
				t.Fatalf("question %+v, run %s", got, a.state())
			}
			a.must(request, event.Allow)
			next, d := a.next()
			if old := a.get(t, a.n.ID); old.Error.Code != code || next.Continues != a.n.ID || len(d.Continues.Grants) != 1 {
				t.Errorf("run %+v, next %+v", old, next)
			}
		})
	}
}

func TestR21TheRunGoesOnOnceTheLastQuestionIsAnswered(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		first, second := a.ask(event.Person, `{"n":1}`), a.ask(event.Person, `{"n":2}`)
		a.limit(first, second)
		if _, err := a.reply(wire.Answer{RequestID: second, Decision: event.Deny, Reason: "not here."}); err != nil {
			t.Fatal(err)
		}
		if old := a.get(t, a.n.ID); old.State != run.StateWaitingPerson || old.ContinuedBy != "" {
			t.Fatalf("run %+v with a question open", old)
		}
		if _, err := a.reply(wire.Answer{RequestID: first, Decision: event.Allow, UpdatedInput: json.RawMessage(`{"n":3}`)}); err != nil {
			t.Fatal(err)
		}
		_, d := a.next()
		want := "The request to use Bash with {\"n\":1} was allowed with another input: {\"n\":3}.\n" +
			"The request to use Bash with {\"n\":2} was denied: not here. Go on."
		if d.Prompt != want {
			t.Errorf("told %q, want %q", d.Prompt, want)
		}
		if g := d.Continues.Grants; len(g) != 1 || g[0].RequestID != first || string(g[0].UpdatedInput) != `{"n":3}` || d.Continues.RequestID != first {
			t.Errorf("continues %+v", d.Continues)
		}
	})
}

func TestR21ADenialGrantsNothing(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{}`)
		a.limit(request)
		a.must(request, event.Deny)
		if _, d := a.next(); d.Prompt != "The request to use Bash was denied. Go on without it." || len(d.Continues.Grants) != 0 {
			t.Errorf("dispatch %+v, continues %+v", d, d.Continues)
		}
	})
}

func TestR21CancelEndsARunWithoutAProcessInTheHub(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		request := a.ask(event.Person, `{}`)
		a.limit(request)
		found, err := a.Runs.Cancel(t.Context(), a.n.ID, a.ada.User)
		if err != nil || found.State != run.StateCancelled {
			t.Fatalf("cancelled run is %s, %v", found.State, err)
		}
		if _, err := a.say(request, event.Allow); fault.CodeOf(err) != fault.PromptCancelled {
			t.Errorf("answer after the cancel: %v", err)
		}
		if got := a.pending(t, a.j.edge); len(got) != 0 {
			t.Errorf("commands %+v", got)
		}
	})
}

func TestR21AnEdgeThatStaysAwayEndsNothingThatWaitsForAPerson(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, 40*time.Millisecond)
		a := newAsker(t, r)
		waits := a.ask(event.Person, `{}`)
		a.limit(waits)
		control := r.start(t, a.n.Session) // of the same edge, with a process that nobody can see any more
		a.j.answer(t, r, wire.Accepted, "")
		a.j.write(t, control.ID, wireStarted, json.RawMessage(`{}`))
		a.j.flush(t, r)
		r.fleet.set(a.j.edge, false)
		r.until(t, committed, control.ID, run.StateInterrupted)
		if found := a.get(t, a.n.ID); found.State != run.StateWaitingPerson || found.Unknown {
			t.Errorf("run %+v", found)
		}
		a.must(waits, event.Allow)
		if next, _ := a.next(); next.State != run.StateWaitingEdge {
			t.Errorf("next run is %s while its edge is away", next.State)
		}
	})
}

func TestARunThatWaitsForAPersonOutlastsTheAbsenceOfItsEdge(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, 40*time.Millisecond)
		a := newAsker(t, r)
		request := a.ask(event.Person, `{}`)
		control := r.start(t, a.n.Session) // of the same edge, and waits for nobody
		a.j.answer(t, r, wire.Accepted, "")
		r.fleet.set(a.j.edge, false)
		r.until(t, committed, control.ID, run.StateInterrupted)
		if found := a.get(t, a.n.ID); found.State != run.StateWaitingPerson || !found.Unknown {
			t.Errorf("run %+v", found)
		}
		a.must(request, event.Allow) // now nothing holds it any more
		r.until(t, committed, a.n.ID, run.StateInterrupted)
		if p := a.list()[0]; p.State != prompt.Answered || !p.Answer.DeliveredAt.IsZero() {
			t.Errorf("question %+v", p)
		}
	})
}

func TestR21AnAnswerThatWasUnderWayIsTakenBackToTheAgent(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, time.Hour)
		a := newAsker(t, r)
		request := a.ask(event.Person, `{}`)
		a.must(request, event.Allow)
		a.limit(request)
		r.until(t, committed, a.n.ID, run.StateFailed)
		if _, d := a.next(); d.Continues.RequestID != request || len(d.Continues.Grants) != 1 {
			t.Errorf("continues %+v", d.Continues)
		}
	})
}

func TestR21ACancelThatWasUnderWayEndsTheRun(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, time.Hour)
		a := newAsker(t, r)
		request := a.ask(event.Person, `{}`)
		if _, err := r.Runs.Cancel(t.Context(), a.n.ID, a.ada.User); err != nil {
			t.Fatal(err)
		}
		a.limit(request)
		a.j.answer(t, r, wire.Rejected, fault.TooLate)
		r.until(t, committed, a.n.ID, run.StateCancelled)
	})
}

func TestR21ARunThatMayNotGoOnFailsAndSaysWhy(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, time.Hour)
		a := newAsker(t, r)
		request := a.ask(event.Person, `{}`)
		a.must(request, event.Allow)
		do(t, r.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM session_members WHERE member_id = $1`, string(a.n.Agent))
			return err
		})
		a.limit(request)
		r.until(t, committed, a.n.ID, run.StateFailed)
		if found := a.get(t, a.n.ID); found.Error.Code != fault.AgentUnknown || found.ContinuedBy != "" {
			t.Errorf("run %+v, error %+v", found, found.Error)
		}
	})
}

func TestAnAnswerDoesNotKeepALostRunAlive(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.must(a.ask(event.Person, `{}`), event.Allow)
		lost := newJournal(a.j.edge) // the edge comes back with an empty journal
		lost.open(t, a.record)
		if got := a.state(); got != run.StateInterrupted {
			t.Errorf("run is %s", got)
		}
	})
}
