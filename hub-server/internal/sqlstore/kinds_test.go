package sqlstore

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// kinds are what can be asked besides a permission, and what is said to it.
var kinds = map[string]struct {
	kind     event.PromptKind
	inner    string
	decision event.Decision
	response string
	reason   string
	misfit   wire.Answer // an answer to something else
	told     string      // to an agent whose process was lost
	granted  bool
}{
	"a choice": {event.PromptQuestion, `{"question":"Which one?","options":[{"label":"a"},{"label":"b"}],"multi":true,"later":1}`,
		event.Allow, `{"selected_options":["b","a"],"custom_text":"but gently"}`, "",
		wire.Answer{Decision: event.Allow, Response: json.RawMessage(`{"selected_options":["c"]}`)},
		`The question "Which one?" was answered: b, a; but gently. Go on.`, true},
	"a choice that is declined": {event.PromptQuestion, anything, event.Deny, "", "Ask Bob.", wire.Answer{Decision: event.TryAgain},
		`The question "Which one?" was declined: Ask Bob. Go on without it.`, false},
	"a plan": {event.PromptPlanReview, `{"plan_id":"p1","steps":[{"id":"s1"},{"id":"s2","depends_on":["s1"]}]}`, event.Allow, "", "",
		wire.Answer{Decision: event.Allow, Response: json.RawMessage(`{"updated_steps":[{"id":"s1","depends_on":["s1"]}]}`)},
		"The plan p1 was approved. Go on.", true},
	"another plan": {event.PromptPlanReview, `{"plan_id":"p1","steps":[{"id":"s1"}]}`, event.Allow, `{"updated_steps":[{"id":"s2"}]}`, "",
		wire.Answer{Decision: event.Allow, UpdatedInput: json.RawMessage(`{}`)},
		`The plan p1 was approved with changes: {"updated_steps":[{"id":"s2"}]}. Go on.`, true},
	"no plan": {event.PromptPlanReview, `{"plan_id":"p1","steps":[{"id":"s1"}]}`, event.Deny, "", "Too dear.",
		wire.Answer{Decision: event.Deny, Response: json.RawMessage(`{}`)}, "The plan p1 was rejected: Too dear. Go on without it.", false},
	"a failed step": {event.PromptStepDecision, `{"scope":"step","step_id":"s2","reason":"rate limit","attempts":3,"allow_retry":true}`,
		event.TryAgain, "", "It is night now.", wire.Answer{Decision: event.Allow}, "The decision about step s2 is: retry: It is night now. Go on.", true},
	"a failed plan": {event.PromptStepDecision, `{"scope":"plan","reason":"no budget"}`, event.GiveUp, "", "",
		wire.Answer{Decision: event.TryAgain}, "The decision about the plan is: cancel. Go on.", true},
}

func TestAnswersOfEveryKindAreKeptAndTakenToTheEdge(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			eachAsker(t, func(t *testing.T, a *asker) {
				request := a.inquire(k.kind, k.inner, 0)
				if a.state() != run.StateWaitingPerson {
					t.Errorf("run is %s", a.state())
				}
				answer := wire.Answer{RequestID: request, Decision: k.decision, Response: json.RawMessage(k.response), Reason: k.reason}
				misfit := k.misfit
				misfit.RequestID = request
				if _, err := a.reply(misfit); fault.CodeOf(err) != fault.InvalidRequest {
					t.Errorf("an answer to something else: %v", err)
				}
				for range 2 { // the same answer again gets what was recorded (R8)
					p, err := a.reply(answer)
					if err != nil {
						t.Fatal(err)
					}
					if got := p.Answer; p.Kind != k.kind || got.Decision != k.decision || string(got.Response) != k.response || got.Reason != k.reason {
						t.Errorf("recorded %+v", got)
					}
				}
				answer.Reason += "!"
				if _, err := a.reply(answer); fault.CodeOf(err) != fault.AlreadyAnswered {
					t.Errorf("another answer: %v", err)
				}
				told := a.answers()
				if len(told) != 1 || told[0].Decision != k.decision || string(told[0].Response) != k.response || told[0].Digest != a.list()[0].Digest {
					t.Errorf("the edge is told %+v", told)
				}
			})
		})
	}
}

// R9: nothing of an answer is lost when the process that asked is.
func TestAnswersOfEveryKindOutliveTheProcessThatAsked(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			eachAsker(t, func(t *testing.T, a *asker) {
				request := a.inquire(k.kind, k.inner, 0)
				a.ended(event.EndedUnseen, request)
				_, err := a.reply(wire.Answer{RequestID: request, Decision: k.decision, Response: json.RawMessage(k.response), Reason: k.reason})
				if err != nil {
					t.Fatal(err)
				}
				_, d := a.next()
				if d.Prompt != k.told {
					t.Errorf("told %q, want %q", d.Prompt, k.told)
				}
				grants := d.Continues.Grants
				if (len(grants) == 1) != k.granted {
					t.Fatalf("grants %+v", grants)
				}
				if k.granted && (string(grants[0].Response) != k.response || grants[0].Decision != k.decision && k.decision != event.Allow) {
					t.Errorf("granted %+v", grants[0])
				}
			})
		})
	}
}

func TestTheHubAsksAboutARunAndNoEdgeIsTold(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		q := prompt.Question{
			ID: id.NewRequest(), Run: a.n.ID, Kind: event.PromptStepDecision, Inner: json.RawMessage(`{"scope":"plan","reason":"no  budget"}`),
			Limit: time.Hour,
		}
		for range 2 { // after a crash the hub asks again
			p, err := a.prompts.Ask(t.Context(), q)
			if err != nil || p.State != prompt.Pending || !p.ByHub || p.ExpiresAt.IsZero() {
				t.Fatalf("asked %+v, %v", p, err)
			}
		}
		if a.state() != run.StateWaitingPerson || len(a.list()) != 1 {
			t.Errorf("run is %s, asked %+v", a.state(), a.list())
		}
		a.must(q.ID, event.GoOn)
		if a.state() != run.StateRunning || len(a.answers()) != 0 {
			t.Errorf("run is %s, the edge is told %+v", a.state(), a.answers())
		}
		for name, spoil := range map[string]func(*prompt.Question){
			"a permission": func(q *prompt.Question) { q.Kind = event.PromptPermission },
			"nothing":      func(q *prompt.Question) { q.Inner = json.RawMessage(`{}`) },
		} {
			bad := q
			spoil(&bad)
			if _, err := a.prompts.Ask(t.Context(), bad); fault.CodeOf(err) != fault.InvalidRequest {
				t.Errorf("%s: %v", name, err)
			}
		}
		a.j.write(t, a.n.ID, wireFinished, event.RunCompletedPayload{})
		a.j.flush(t, a.record)
		late := q
		late.ID = id.NewRequest()
		if _, err := a.prompts.Ask(t.Context(), late); fault.CodeOf(err) != fault.RunEnded {
			t.Errorf("about a run that is over: %v", err)
		}
	})
}

// A process that is lost takes no answer to what the hub has asked.
func TestWhatTheHubAskedIsNotToldToAnAgent(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		ours, err := a.prompts.Ask(t.Context(), prompt.Question{
			ID: id.NewRequest(), Run: a.n.ID, Kind: event.PromptStepDecision, Inner: json.RawMessage(`{"scope":"plan"}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		theirs := a.ask(event.Person, `{}`)
		a.ended(event.EndedUnseen, theirs)
		a.must(theirs, event.Allow)
		if old := a.get(t, a.n.ID); old.ContinuedBy != "" {
			t.Errorf("run %+v goes on with a question open", old)
		}
		a.must(ours.ID, event.GoOn)
		if _, d := a.next(); d.Prompt != "The request to use Bash was allowed. Go on." || len(d.Continues.Grants) != 1 {
			t.Errorf("told %q, continues %+v", d.Prompt, d.Continues)
		}
	})
}
