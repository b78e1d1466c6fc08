package event_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestWhatIsAskedMustBeSomethingThatCanBeAnswered(t *testing.T) {
	steps := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"s%d"}`, i))
		}
		return strings.Join(all, ",")
	}
	for _, c := range []struct {
		kind  event.PromptKind
		inner string
		ok    bool
	}{
		{event.PromptQuestion, `{"question":"a?"}`, true},
		{event.PromptQuestion, `{"question":"a?","options":[{"label":"x"},{"label":"y","description":"d"}],"multi":true,"allow_custom":false,"new":1}`, true},
		{event.PromptQuestion, `{"options":[{"label":"x"}]}`, false},
		{event.PromptQuestion, `{"question":"a?","allow_custom":false}`, false},
		{event.PromptQuestion, `{"question":"a?","options":[{"label":"x"},{"label":"x"}]}`, false},
		{event.PromptQuestion, `{"question":"a?","options":[{"label":""}]}`, false},
		{event.PromptQuestion, `{"question":7}`, false},
		{event.PromptQuestion, `[]`, false},
		{event.PromptQuestion, ``, false},
		{event.PromptQuestion, `{"question":"a?","deep":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, false},
		{event.PromptQuestion, `{"question":"` + strings.Repeat("x", event.MaxInner) + `"}`, false},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[` + steps(1) + `]}`, true},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[` + steps(256) + `]}`, true},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[` + steps(257) + `]}`, false},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[]}`, false},
		{event.PromptPlanReview, `{"steps":[{"id":"a"}]}`, false},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[{"id":"a"},{"id":"a"}]}`, false},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[{"id":"a","depends_on":["b"]},{"id":"b"}]}`, true},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[{"id":"a","depends_on":["b"]},{"id":"b","depends_on":["a"]}]}`, false},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[{"id":"a","depends_on":["c"]}]}`, false},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[{"id":"a","subagent_type":"w"}],"available_subagents":["w"]}`, true},
		{event.PromptPlanReview, `{"plan_id":"p","steps":[{"id":"a","subagent_type":"x"}],"available_subagents":["w"]}`, false},
		{event.PromptStepDecision, `{"scope":"plan"}`, true},
		{event.PromptStepDecision, `{"scope":"step","step_id":"s1","attempts":3}`, true},
		{event.PromptStepDecision, `{"scope":"step"}`, false},
		{event.PromptStepDecision, `{"scope":"all"}`, false},
		{event.PromptPermission, `{}`, false},
		{"poem", `{}`, false},
	} {
		if err := event.CheckInner(c.kind, json.RawMessage(c.inner)); (err == nil) != c.ok {
			t.Errorf("%s %.80s: %v", c.kind, c.inner, err)
		}
	}
}

func TestAnswersMustFitWhatWasAsked(t *testing.T) {
	const (
		one  = `{"question":"a?","options":[{"label":"x"},{"label":"y"}],"allow_custom":false}`
		many = `{"question":"a?","options":[{"label":"x"},{"label":"y"}],"multi":true}`
		plan = `{"plan_id":"p","steps":[{"id":"a"}],"available_subagents":["w"]}`
		step = `{"scope":"step","step_id":"s","allow_retry":true}`
		last = `{"scope":"plan"}`
	)
	for _, c := range []struct {
		kind     event.PromptKind
		inner    string
		decision event.Decision
		response string
		ok       bool
	}{
		{event.PromptPermission, ``, event.Allow, ``, true},
		{event.PromptPermission, ``, event.Deny, ``, true},
		{event.PromptPermission, ``, event.GoOn, ``, false},
		{event.PromptPermission, ``, event.NoAnswer, ``, false},
		{event.PromptPermission, ``, event.Allow, `{}`, false},
		{event.PromptQuestion, one, event.Allow, `{"selected_options":["x"]}`, true},
		{event.PromptQuestion, one, event.Allow, `{"selected_options":["x"],"custom_text":""}`, true},
		{event.PromptQuestion, one, event.Allow, `{"selected_options":["z"]}`, false},
		{event.PromptQuestion, one, event.Allow, `{"selected_options":["x","y"]}`, false},
		{event.PromptQuestion, one, event.Allow, `{"custom_text":"mine"}`, false},
		{event.PromptQuestion, one, event.Allow, `{}`, false},
		{event.PromptQuestion, one, event.Allow, ``, false},
		{event.PromptQuestion, one, event.Allow, `{"selected":["x"]}`, false},
		{event.PromptQuestion, one, event.Deny, ``, true},
		{event.PromptQuestion, one, event.Deny, `{"selected_options":["x"]}`, false},
		{event.PromptQuestion, many, event.Allow, `{"selected_options":["y","x"],"custom_text":"and mine"}`, true},
		{event.PromptQuestion, many, event.Allow, `{"selected_options":["x","x"]}`, false},
		{event.PromptQuestion, many, event.Allow, `{"custom_text":"mine"}`, true},
		{event.PromptPlanReview, plan, event.Allow, ``, true},
		{event.PromptPlanReview, plan, event.Allow, `{"updated_steps":[]}`, true},
		{event.PromptPlanReview, plan, event.Allow, `{"updated_steps":[{"id":"b","subagent_type":"w"}]}`, true},
		{event.PromptPlanReview, plan, event.Allow, `{"updated_steps":[{"id":"b","subagent_type":"v"}]}`, false},
		{event.PromptPlanReview, plan, event.Allow, `{"updated_steps":[{"id":"b","extra":1}]}`, false},
		{event.PromptPlanReview, plan, event.Deny, ``, true},
		{event.PromptPlanReview, plan, event.Deny, `{"updated_steps":[{"id":"b"}]}`, false},
		{event.PromptPlanReview, plan, event.TryAgain, ``, false},
		{event.PromptStepDecision, step, event.TryAgain, ``, true},
		{event.PromptStepDecision, step, event.GoOn, ``, true},
		{event.PromptStepDecision, step, event.GiveUp, ``, true},
		{event.PromptStepDecision, step, event.Allow, ``, false},
		{event.PromptStepDecision, step, event.GoOn, `{}`, false},
		{event.PromptStepDecision, last, event.TryAgain, ``, false},
		{"poem", ``, event.Allow, ``, true},
		{"poem", ``, event.Allow, `{}`, false},
	} {
		err := event.CheckResponse(c.kind, json.RawMessage(c.inner), c.decision, json.RawMessage(c.response))
		if (err == nil) != c.ok {
			t.Errorf("%s of %s to %s: %v", c.decision, c.response, c.kind, err)
		}
	}
}

func TestDigestOfAnyKindIsThatOfWhatIsShown(t *testing.T) {
	digest := func(kind event.PromptKind, inner string) string {
		t.Helper()
		d, err := event.InnerDigest(kind, json.RawMessage(inner))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	shown := digest(event.PromptQuestion, `{"question":"a?","n":1.0}`)
	if same := digest(event.PromptQuestion, ` { "n":1.0, "question":"\u0061?" }`); same != shown {
		t.Error("spaces, order and spelling count")
	}
	for _, other := range []string{digest(event.PromptPlanReview, `{"question":"a?","n":1.0}`), digest(event.PromptQuestion, `{"question":"a?","n":1}`)} {
		if other == shown {
			t.Error("something else has the same digest")
		}
	}
	if _, err := event.InnerDigest(event.PromptQuestion, json.RawMessage(`{`)); err == nil {
		t.Error("what is no JSON has a digest")
	}
}

// FuzzPromptChecksNeverPanic feeds what agents ask and what people answer.
func FuzzPromptChecksNeverPanic(f *testing.F) {
	f.Add("question", `{"question":"a?","options":[{"label":"x"}]}`, "allow", `{"selected_options":["x"]}`)
	f.Add("plan_review", `{"plan_id":"p","steps":[{"id":"a","depends_on":["a"]}]}`, "allow", `{"updated_steps":[{"id":"b"}]}`)
	f.Add("step_decision", `{"scope":"step","step_id":"s"}`, "retry", ``)
	f.Fuzz(func(t *testing.T, kind, inner, decision, response string) {
		asked, d := event.PromptKind(kind), event.Decision(decision)
		if event.CheckInner(asked, json.RawMessage(inner)) == nil && asked == event.PromptPermission {
			t.Error("a permission has no inner")
		}
		if event.CheckResponse(asked, json.RawMessage(inner), d, json.RawMessage(response)) == nil && !asked.Takes(d) {
			t.Errorf("%s answers %s", d, kind)
		}
	})
}
