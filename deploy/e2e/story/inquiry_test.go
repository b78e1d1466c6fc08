package story

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// inquirer asks one thing and notes the answer in its book. It says what it was told, and that it was here before.
const inquirer = `read -r turn
case $turn in *'"session_id":"here"'*) echo '{"type":"delta","content":"resumed, "}';; esac
echo '{"type":"session_init","session_id":"here"}'
printf '{"type":"prompt","request_id":"1","kind":"%s","inner":%s}\n' "$1" "$2"
read -r answer && printf '%s\n' "$answer" >>"$0"
echo '{"type":"delta","content":"heard"}'
echo '{"type":"done"}'
`

func newInquiring(t *testing.T, kind event.PromptKind, inner string) *asking {
	t.Helper()
	r := rig.New(t, rig.Options{})
	a := &asking{scene: &scene{Rig: r, t: t}, book: filepath.Join(t.TempDir(), "book")}
	profile := rig.Profile("events", "sh", "-c", inquirer, a.book, string(kind), inner)
	a.edge = r.AddEdge("laptop", map[string]string{"worker": profile + "permission: true\nkill_grace_secs: 1\n"})
	a.open(r.HubURL(), r.HubURL())
	return a
}

// inquiries are what an agent may ask besides a permission, how it is answered, and what the agent reads then.
var inquiries = map[string]struct {
	kind  event.PromptKind
	inner string
	in    client.PromptAnswerInput
	heard string
	wire  string // names of the two steps
}{
	"a question": {event.PromptQuestion, `{"question":"Which?","options":[{"label":"a b"}]}`,
		client.PromptAnswerInput{Decision: client.PromptDecisionAllow, Response: []byte(`{"selected_options":["a b"]}`)},
		`"decision":"allow","response":{"selected_options":["a b"]}`, "run.prompt.requested run.prompt.answered"},
	"a plan": {event.PromptPlanReview, `{"plan_id":"p1","steps":[{"id":"s1"}]}`, client.PromptAnswerInput{Decision: client.PromptDecisionAllow},
		`"decision":"allow"`, "run.agent.plan_proposed run.agent.plan_approved"},
	"a failed step": {event.PromptStepDecision, `{"scope":"step","step_id":"s1","allow_retry":true}`,
		client.PromptAnswerInput{Decision: client.PromptDecisionRetry, Reason: "Once more."},
		`"decision":"retry","reason":"Once more."`, "run.prompt.requested run.prompt.answered"},
}

// steps are the wire names of what was asked and answered in a log.
func steps(log []client.RunEvent) string {
	var names []string
	for _, e := range log {
		if e.EventType == string(event.PromptRequested) || e.EventType == string(event.PromptAnswered) {
			names = append(names, e.WireType)
		}
	}
	return strings.Join(names, " ")
}

func TestEveryKindOfQuestionIsAnsweredOnAnotherDevice(t *testing.T) {
	t.Parallel()
	for what, q := range inquiries {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := newInquiring(t, q.kind, q.inner)
			run, asked := a.asked(1)
			if asked[0].Kind != string(q.kind) || !strings.Contains(string(asked[0].Payload), `"inner":`+q.inner) {
				t.Errorf("asked %s", asked[0].Payload)
			}
			a.seenA.Until("the question as a notification", told(asked[0].RequestID, 1))
			a.must(asked[0], q.in)
			a.seenA.Until("that it is answered", told(asked[0].RequestID, 2))
			log := a.settle(run, client.RunStateCompleted)
			if got := steps(log); got != q.wire {
				t.Errorf("log has %s, want %s", got, q.wire)
			}
			a.expectHeard(q.heard)
		})
	}
}

func TestAnAnswerOfEveryKindIsTakenToAnAgentThatWasLost(t *testing.T) {
	t.Parallel()
	for what, q := range inquiries {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a := newInquiring(t, q.kind, q.inner)
			run, asked := a.asked(1)
			a.edge.Kill()
			answered := a.must(asked[0], q.in)
			a.edge.Start()
			var next id.Run
			a.Eventually("the run that goes on", func() bool {
				next = id.Run(a.prompts(run)[0].Answer.ContinuedByRunID)
				return next != ""
			})
			a.expectSaid(next, "resumed, heard")
			reason := fmt.Sprintf("A person has answered this before, as %s.", answered.RequestID)
			heard, _, _ := strings.Cut(q.heard, `,"reason"`)
			a.expectHeard(heard + fmt.Sprintf(`,"reason":%q`, reason))
			a.settle(run, client.RunStateFailed)
			if got := a.prompts(next); len(got) != 0 {
				t.Errorf("people are asked once more: %+v", got)
			}
		})
	}
}

// told says whether a device has been shown so many states of a question.
func told(request string, states int) func(*rig.Recorder) bool {
	return func(r *rig.Recorder) bool { return r.Versions("notification.new "+request) == states }
}

// expectHeard checks that the agent has read exactly this answer, once.
func (a *asking) expectHeard(rest string) {
	a.t.Helper()
	if got, want := a.notes(), `{"type":"prompt_response","request_id":"1",`+rest+"}\n"; got != want {
		a.t.Errorf("the agent heard %q, want %q", got, want)
	}
}

func TestAQuestionThatNobodyAnswersInTimeExpires(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Env: []string{"HUB_PROMPT_TTL=1s"}})
	a := &asking{scene: &scene{Rig: r, t: t}, book: filepath.Join(t.TempDir(), "book")}
	profile := rig.Profile("events", "sh", "-c", inquirer, a.book, string(event.PromptQuestion), `{"question":"Which?"}`)
	a.edge = r.AddEdge("laptop", map[string]string{"worker": profile + "permission: true\n"})
	a.open(r.HubURL(), r.HubURL())
	run := a.a.Run(a.session, order)
	a.settle(run, client.RunStateCompleted)
	if got := promptEvents(a.Owner().Log(run)); got != "run.prompt.requested run.prompt.expired run.prompt.delivered" {
		t.Errorf("log has %s", got)
	}
	a.expectHeard(`"decision":"timeout","reason":"Nobody answered in time."`)
	p := a.prompts(run)[0]
	if _, err := a.answer(a.b, p, deny); p.State != client.PromptStateExpired || client.CodeOf(err) != client.ProblemCodePromptExpired {
		t.Errorf("question %+v, answer after its time: %v", p, err)
	}
}
