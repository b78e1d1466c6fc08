package admission_test

import (
	"context"
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
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// asked is a prompt for a person.
func asked() run.Asked {
	return run.Asked{PromptRequestedPayload: event.PromptRequestedPayload{
		RequestID: id.NewRequest(), Kind: event.PromptPermission, ToolName: "Bash", Input: json.RawMessage(`{}`), AgentRequestID: "1", Digest: "d",
		Asks: event.Person,
	}}
}

// answerTo is the command that brings a person's answer to a prompt of the run.
func answerTo(c wire.Command, a wire.Answer) wire.Command {
	body, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return wire.Command{DeliveryID: id.NewDelivery(), Kind: wire.AnswerPrompt, RunID: c.RunID, Lease: c.Lease, Body: body}
}

func TestAnswerReachesTheAgentOnceHoweverOftenItIsDelivered(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	prompt := asked()
	a.lines <- prompt
	want := wire.Answer{RequestID: prompt.RequestID, Decision: event.Allow, UpdatedInput: json.RawMessage(`{"n":1.0}`), Digest: "d", UserID: "user_1"}
	k := answerTo(c, want)
	first := e.receive(t, k, wire.Accepted)
	for range 3 {
		if r := e.receive(t, k, wire.Accepted); r != first {
			t.Errorf("repeat got %+v, first %+v", r, first)
		}
	}
	if got := <-a.answers; got.RequestID != want.RequestID || got.Decision != want.Decision || string(got.UpdatedInput) != `{"n":1.0}` || len(a.answers) > 0 {
		t.Errorf("the agent got %+v and %d more", got, len(a.answers))
	}
	a.lines <- run.Delivered{PromptDeliveredPayload: event.PromptDeliveredPayload{RequestID: prompt.RequestID, Decision: event.Allow}}
	a.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.expect(t, c.RunID, `{}`, event.RunStarted, event.PromptRequested, event.PromptDelivered, event.RunCompleted)
}

func TestAnswersThatCannotBeTakenAreRecordedAsSuch(t *testing.T) {
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
	actors[over.RunID].exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, over.RunID)
	good := wire.Answer{RequestID: id.NewRequest(), Decision: event.Deny, Digest: "d"}
	stale, broken := answerTo(live, good), answerTo(live, good)
	stale.Lease, broken.Body = 4, json.RawMessage(`{"decision":7}`)
	for name, tt := range map[string]struct {
		command   wire.Command
		unwilling error
		want      fault.Code
	}{
		"of an unknown run":             {answerTo(newOrder(), good), nil, fault.NotFound},
		"of a run that has not started": {answerTo(waiting, good), nil, fault.NotFound},
		"of a run that has ended":       {answerTo(over, good), nil, fault.TooLate},
		"of an older dispatch":          {stale, nil, fault.LeaseStale},
		"that cannot be read":           {broken, nil, fault.InvalidRequest},
		"that decides nothing":          {answerTo(live, wire.Answer{RequestID: good.RequestID}), nil, fault.InvalidRequest},
		"to an unknown request":         {answerTo(live, good), fault.New(fault.NotFound, "Not asked."), fault.NotFound},
		"to a settled request":          {answerTo(live, good), fault.New(fault.TooLate, "Settled."), fault.TooLate},
		"to something else":             {answerTo(live, good), fault.New(fault.DigestMismatch, "Another."), fault.DigestMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			actors[live.RunID].unwilling = tt.unwilling
			first := e.receive(t, tt.command, wire.Rejected)
			if first.Code != tt.want || first.Detail == "" {
				t.Errorf("got %s %q, want %s", first.Code, first.Detail, tt.want)
			}
			actors[live.RunID].unwilling = nil
			if again := e.receive(t, tt.command, wire.Rejected); again != first {
				t.Errorf("repeat got %+v, first %+v", again, first)
			}
		})
	}
	e.receive(t, cancelOf(live), wire.Accepted)
	if r := e.receive(t, answerTo(live, good), wire.Rejected); r.Code != fault.TooLate {
		t.Errorf("answer to a run that is being stopped got %s", r.Code)
	}
	if n := len(actors[live.RunID].answers); n > 0 {
		t.Errorf("%d answers were delivered", n)
	}
	actors[live.RunID].exit <- admission.Exit{Gone: true}
	e.stage.next(t).exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, waiting.RunID)
}

// Whoever acts on a permission finds it in the journal first, also after a power cut.
func TestAnswerOfAPolicyIsOnDiskBeforeTheAgentHearsOfIt(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	prompt := asked()
	a.lines <- prompt
	a.lines <- run.Decided{PromptAnsweredPayload: event.PromptAnsweredPayload{RequestID: prompt.RequestID, Decision: event.Allow, By: event.Policy}}
	a.lines <- run.StateChange{State: "goes on"} // is taken only when the one before is done
	events, err := e.journal.Events(t.Context(), c.RunID)
	must(t, err)
	if !slices.ContainsFunc(events, func(e event.Envelope) bool { return event.Stored(e.Type, e.Payload) == event.PromptAnswered }) {
		t.Errorf("%d events, and no answer among them", len(events))
	}
	a.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, c.RunID)
}

func TestRunWhoseProcessEndedWhileAPersonIsAskedIsTheHubsFromThenOn(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, newStage())
	c := newOrder()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	prompt := asked()
	a.lines <- run.Delta{Text: "half a"}
	a.lines <- prompt
	a.exit <- admission.Exit{Outcome: run.ProcessEnded(event.EndedAtTurnLimit, []id.Request{prompt.RequestID}), Gone: true}
	want := `{"reason":"turn_limit","code":"timeout","pending":["` + string(prompt.RequestID) + `"]}`
	log := []event.Type{event.RunStarted, event.MessageStarted, event.MessageDelta, event.PromptRequested, event.MessageDone, event.RunProcessEnded}
	e.expect(t, c.RunID, want, log...)
	again := c
	again.DeliveryID, again.Lease = id.NewDelivery(), 2
	for _, tt := range []struct {
		command wire.Command
		want    fault.Code
	}{
		{cancelOf(c), fault.TooLate},
		{answerTo(c, wire.Answer{RequestID: prompt.RequestID, Decision: event.Allow, Digest: "d"}), fault.TooLate},
		{again, fault.RunEnded},
	} {
		if r := e.receive(t, tt.command, wire.Rejected); r.Code != tt.want {
			t.Errorf("%s got %s, want %s", tt.command.Kind, r.Code, tt.want)
		}
	}
	e.stop()
	next := start(t, home, newStage())
	next.expect(t, c.RunID, want, log...)
	if live := next.LiveRuns(); len(live) > 0 || len(next.stage.swept) > 0 {
		t.Errorf("live %v, swept %v", live, next.stage.swept)
	}
}

// askedThenCrashed leaves in home an edge that was killed while its agent asked, and after it had heard the answer to delivered.
func askedThenCrashed(t *testing.T, home string, c wire.Command, delivered, open run.Asked, answers ...wire.Command) {
	t.Helper()
	crashed(t, home, func(j *journal.Journal) {
		from := journal.Origin{Scope: event.Scope{RunID: c.RunID}}
		must(t, j.AnswerStart(t.Context(), c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
		must(t, j.Intend(t.Context(), c.RunID, "nonce"))
		must(t, j.CommitStarted(t.Context(), from, 1, run.Candidate{Type: event.RunStarted, Payload: event.RunStartedPayload{}}))
		must(t, j.Commit(t.Context(), from,
			run.Candidate{Type: event.PromptRequested, Payload: delivered.PromptRequestedPayload},
			run.Candidate{Type: event.PromptRequested, Payload: open.PromptRequestedPayload},
			run.Candidate{Type: event.PromptDelivered, Payload: event.PromptDeliveredPayload{RequestID: delivered.RequestID, Decision: event.Deny}}))
		for _, k := range answers {
			must(t, j.AnswerAgain(t.Context(), k, wire.CommandReceipt{DeliveryID: k.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
		}
	})
}

func TestARequestToAPersonOutlivesAnEdgeThatIsKilled(t *testing.T) {
	home := t.TempDir()
	c, delivered, open := newOrder(), asked(), asked()
	askedThenCrashed(t, home, c, delivered, open)
	e := start(t, home, newStage())
	e.expect(t, c.RunID, fmt.Sprintf(`{"reason":"process_lost","code":"process_lost","pending":[%q]}`, open.RequestID),
		event.RunStarted, event.PromptRequested, event.PromptRequested, event.PromptDelivered, event.RunProcessEnded)
	late := answerTo(c, wire.Answer{RequestID: open.RequestID, Decision: event.Allow, Digest: "d"})
	if r := e.receive(t, late, wire.Rejected); r.Code != fault.TooLate || len(e.LiveRuns()) > 0 {
		t.Errorf("answer got %+v, live %v", r, e.LiveRuns())
	}
}

// The answer was taken, and the edge died before it knew that the agent had it: the request is reported, for the hub to take the answer to the
// next process.
func TestAnswerThatACrashKeptFromTheAgentIsReportedAsUnheard(t *testing.T) {
	home := t.TempDir()
	c, delivered, open := newOrder(), asked(), asked()
	k := answerTo(c, wire.Answer{RequestID: open.RequestID, Decision: event.Allow, Digest: "d"})
	askedThenCrashed(t, home, c, delivered, open, k)
	e := start(t, home, newStage())
	e.expect(t, c.RunID, fmt.Sprintf(`{"reason":"process_lost","code":"process_lost","pending":[%q]}`, open.RequestID),
		event.RunStarted, event.PromptRequested, event.PromptRequested, event.PromptDelivered, event.RunProcessEnded)
	if e.receive(t, k, wire.Accepted); e.stage.startsOf(c.RunID) != 0 {
		t.Errorf("%d starts", e.stage.startsOf(c.RunID))
	}
}

func TestARequestToAPersonOutlivesAnEdgeThatStops(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, newStage())
	c, prompt := newOrder(), asked()
	e.receive(t, c, wire.Accepted)
	a := e.stage.next(t)
	a.lines <- prompt
	agent := supervise.NewGroup(context.Background())
	agent.Go(func(context.Context) error {
		<-a.stopped
		a.exit <- admission.Exit{Gone: true}
		return nil
	})
	e.stop()
	must(t, agent.Wait())
	again := start(t, home, newStage())
	again.expect(t, c.RunID, fmt.Sprintf(`{"reason":"edge_stopped","code":"edge_stopped","pending":[%q]}`, prompt.RequestID),
		event.RunStarted, event.PromptRequested, event.RunProcessEnded)
}

func TestAttachmentsMannerAndGrantsOfADispatchReachTheAgent(t *testing.T) {
	e := start(t, t.TempDir(), newStage())
	with := func(change func(*wire.Dispatch)) wire.Command {
		c := newOrder()
		var d wire.Dispatch
		must(t, json.Unmarshal(c.Body, &d))
		change(&d)
		body, err := json.Marshal(d)
		must(t, err)
		c.Body = body
		return c
	}
	e.receive(t, with(func(d *wire.Dispatch) {
		d.Prompt, d.Attachments = "", []wire.Attachment{{Kind: "file", URL: "https://example.org/a"}}
		d.Manner = wire.Manner{CoordinatorMode: "plan", PlanConfirmation: "required"}
		d.Continues = &wire.Continues{RunID: id.NewRun(), Grants: []wire.Grant{{RequestID: "req_1", Digest: "d"}}}
	}), wire.Accepted)
	a := e.stage.next(t)
	if len(a.job.Attachments) != 1 || a.job.Attachments[0].URL != "https://example.org/a" || len(a.job.Grants) != 1 || a.job.Grants[0].Digest != "d" {
		t.Errorf("job is %+v", a.job)
	}
	if a.job.Manner != (wire.Manner{CoordinatorMode: "plan", PlanConfirmation: "required"}) {
		t.Errorf("the manner is %+v", a.job.Manner)
	}
	a.exit <- admission.Exit{Outcome: run.Completed(), Gone: true}
	e.log(t, a.job.Run)
	r := e.receive(t, with(func(d *wire.Dispatch) { d.Attachments = []wire.Attachment{{Kind: "file", URL: "file:///etc/passwd"}} }), wire.Rejected)
	if r.Code != fault.InvalidRequest {
		t.Errorf("a file of this machine got %s", r.Code)
	}
}
