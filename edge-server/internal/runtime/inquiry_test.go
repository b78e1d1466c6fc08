package runtime_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const which = `{"question":"Which?","options":[{"label":"a"}]}`

// inquiring is a step of an agent of the events runtime that asks.
func inquiring(request, kind, inner string) string {
	return fmt.Sprintf(`say:{"type":"prompt","request_id":%q,"kind":%q,"inner":%s}`, request, kind, inner)
}

// told is what such an agent says of a response that it has read.
func told(request, rest string) string {
	return fmt.Sprintf(`text {"type":"prompt_response","request_id":%q,%s}`, request, rest)
}

const done = `say:{"type":"done"}`

func innerDigest(kind event.PromptKind, inner string) string {
	d, err := event.InnerDigest(kind, json.RawMessage(inner))
	if err != nil {
		panic(err)
	}
	return d
}

func inquiryTrips() []trip {
	question := inquiring("r1", "question", which)
	asks := "asks person r1  " // no tool, no input
	choose := func(a *wire.Answer) { a.Response, a.Reason = json.RawMessage(`{"selected_options":["a"]}`), "Because." }
	return []trip{
		{rule: "a choice is passed on as it was made", steps: []string{question, "hear", done}, person: says(event.Allow, choose),
			want:      []string{asks, told("r1", `"decision":"allow","response":{"selected_options":["a"]},"reason":"Because."`), "done "},
			delivered: []string{"delivered allow"}},
		{rule: "a plan that is approved as it is needs no words", steps: []string{inquiring("r1", "plan_review", `{"plan_id":"p","steps":[{"id":"s"}]}`), "hear", done},
			person: says(event.Allow, nil), want: []string{asks, told("r1", `"decision":"allow"`), "done "}, delivered: []string{"delivered allow"}},
		{rule: "a decision about a step comes with its note", steps: []string{inquiring("r1", "step_decision", `{"scope":"step","step_id":"s"}`), "hear", done},
			person: says(event.TryAgain, func(a *wire.Answer) { a.Reason = "Once more." }),
			want:   []string{asks, told("r1", `"decision":"retry","reason":"Once more."`), "done "}, delivered: []string{"delivered retry"}},
		{rule: "whoever waited in vain is told so", steps: []string{question, "hear", done}, person: says(event.NoAnswer, nil),
			want: []string{asks, told("r1", `"decision":"timeout","reason":"Nobody answered in time."`), "done "}, delivered: []string{"delivered timeout"}},
		{rule: "a policy is about tools and leaves the rest to people", policy: profile.DenyAll, steps: []string{question, "hear", done}, person: says(event.Deny, nil),
			want: []string{asks, told("r1", `"decision":"deny","reason":"A person denied the request."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "a grant repeats the whole answer, once", person: says(event.Deny, nil), steps: []string{question, "hear", inquiring("r2", "question", which), "hear", done},
			grants: []wire.Grant{{RequestID: "req_1", Digest: innerDigest(event.PromptQuestion, which), Response: json.RawMessage(`{"selected_options":["a"]}`)}},
			want: []string{"asks policy r1  ", "policy grant allow", told("r1", `"decision":"allow","response":{"selected_options":["a"]},"reason":"A person has answered this before, as req_1."`),
				"asks person r2  ", told("r2", `"decision":"deny","reason":"A person denied the request."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "a grant may be of any decision", grants: []wire.Grant{{
			RequestID: "req_1", Digest: innerDigest(event.PromptStepDecision, `{"scope":"plan"}`), Decision: event.GiveUp,
		}}, steps: []string{inquiring("r1", "step_decision", `{"scope":"plan"}`), "hear", done},
			want: []string{"asks policy r1  ", "policy grant cancel", told("r1", `"decision":"cancel","reason":"A person has answered this before, as req_1."`), "done "}},
		{rule: "a permission is asked in the words of the bridge protocol", steps: []string{asking("r1", "Bash", `{"n":1.0}`), "hear", done}, person: says(event.Allow, nil),
			want: []string{`asks person r1 Bash {"n":1.0}`, heard("r1", `"behavior":"allow"`), "done "}, delivered: []string{"delivered allow"}},
	}
}

func turnedDownTrips() []trip {
	question := inquiring("r1", "question", which)
	asks := "asks person r1  "
	return []trip{
		{rule: "what cannot be shown is turned down at once", steps: []string{inquiring("r1", "question", `{}`), "hear", inquiring("r2", "step_decision", `{}`), "hear", done},
			want: []string{told("r1", `"decision":"deny","reason":"The prompt was malformed: no question."`),
				told("r2", `"decision":"cancel","reason":"The prompt was malformed: scope \"\" is neither step nor plan."`), "done "}},
		{rule: "a repeated prompt is asked and answered once", steps: []string{question, question, "hear", done}, person: says(event.Deny, nil),
			want: []string{asks, told("r1", `"decision":"deny","reason":"A person denied the request."`), "done "}, delivered: []string{"delivered deny"}},
		{rule: "while permission is off a prompt is ignored and stdin has ended", off: true, steps: []string{question, "hear", done}, want: []string{"done "}},
		{rule: "after done nothing is answered and stdin ends", steps: []string{question, done, "drain"}, want: []string{asks, "done "}},
		{rule: "after a result nothing is answered and stdin ends", steps: []string{question, `say:{"type":"result","text":"x"}`, "drain"}, want: []string{asks, "done x"}},
	}
}

func TestInquiriesRoundTrip(t *testing.T) {
	for _, trips := range [][]trip{inquiryTrips(), turnedDownTrips()} {
		for _, c := range trips {
			t.Run(c.rule, func(t *testing.T) {
				b := newBench(t, profile.Events, c.steps...)
				b.profile.Permission, b.profile.Policy, b.grants, b.person = !c.off, c.policy, c.grants, c.person
				tr := b.play(t)
				tr.must(t, c.want...)
				if !slices.Equal(tr.delivered, c.delivered) {
					t.Errorf("delivered %q, want %q", tr.delivered, c.delivered)
				}
			})
		}
	}
}

func TestAnInquiryIsShownWithItsKindItsLimitAndWithoutSecrets(t *testing.T) {
	b := newBench(t, profile.Events,
		`say:{"type":"prompt","request_id":"r1","kind":"question","inner":{"question":"Is sk-live-4f9a0c77 right?"},"timeout_ms":60000}`, "hear", done)
	b.profile.Permission, b.profile.Env["API_KEY"] = true, "sk-live-4f9a0c77"
	b.person = says(event.Deny, nil)
	p := b.play(t).asked[0]
	const inner = `{"question":"Is [redacted] right?"}`
	if p.Kind != event.PromptQuestion || string(p.Inner) != inner || p.TimeoutMS != 60000 || p.Digest != innerDigest(p.Kind, inner) || p.ToolName != "" {
		t.Errorf("%+v, inner %s", p, p.Inner)
	}
}

func TestAnAnswerOfAnotherKindIsRefused(t *testing.T) {
	b := newBench(t, profile.Events, inquiring("r1", "step_decision", `{"scope":"plan"}`), "hear", done)
	b.profile.Permission = true
	b.person = func(p event.PromptRequestedPayload, answer func(wire.Answer) error) {
		if err := answer(wire.Answer{RequestID: p.RequestID, Decision: event.Allow, Digest: p.Digest}); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("yes to a failed plan: %v", err)
		}
		says(event.GiveUp, nil)(p, answer)
	}
	b.play(t).must(t, "asks person r1  ", told("r1", `"decision":"cancel"`), "done ")
}

func TestAnInquiryOutlivesTheProcessThatAsked(t *testing.T) {
	for name, c := range map[string]struct {
		steps []string
		limit time.Duration
		want  event.EndReason
	}{
		"killed":            {[]string{inquiring("r1", "question", which), "kill"}, 0, event.EndedUnseen},
		"at its turn limit": {[]string{inquiring("r1", "question", which), "hang"}, time.Second, event.EndedAtTurnLimit},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, profile.Events, c.steps...)
			b.profile.Permission, b.profile.Timeout = true, c.limit
			tr := b.play(t)
			if got := tr.outcome(t); !strings.HasPrefix(got, fmt.Sprintf(`run.process_ended {"reason":%q,`, c.want)) {
				t.Errorf("ended with %s", got)
			}
		})
	}
}
