package board

import (
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

const bash = `"tool_name":"Bash","input":{"command":"ls"}`

func TestAPermissionIsAnsweredByAKeyAndBoundToWhatWasShown(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.asked(prompt("req_1", "permission", bash, 0))
	d.keys("a")
	if got := done[Answer](d); len(got) != 0 {
		t.Fatalf("a key that was typed elsewhere answered: %+v", got)
	}
	d.keys("ctrl+o")
	d.mustShow("scout asks", `{"command":"ls"}`, "a allow")
	d.keys("a")
	got := done[Answer](d)
	if len(got) != 1 || got[0].Request != "req_1" || got[0].Run != task || got[0].Input.Decision != client.PromptDecisionAllow || got[0].Input.Digest != "digest of req_1" {
		t.Fatalf("answers %+v", got)
	}
	d.keys("a", "d")
	if again := done[Answer](d); len(again) != 0 {
		t.Errorf("answered twice: %+v", again)
	}
}

// The older question stays on the screen when a newer one comes, and a key that was meant for one that is gone answers no other.
func TestNoKeyAnswersAnotherQuestionThanTheOneThatWasSeen(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.asked(prompt("req_2", "permission", bash, 0))
	d.keys("ctrl+o")
	d.asked(prompt("req_3", "permission", bash, 0))
	d.mustShow("scout asks (1 of 2)")
	gone := prompt("req_2", "permission", bash, 0)
	gone.State = client.PromptStateAnswered
	d.asked(gone) // somebody else was faster
	d.keys("a")
	for _, a := range done[Answer](d) {
		t.Errorf("the key answered %s", a.Request)
	}
	d.keys("ctrl+o", "d")
	if got := done[Answer](d); len(got) != 1 || got[0].Request != "req_3" || got[0].Input.Decision != client.PromptDecisionDeny {
		t.Errorf("answers %+v", got)
	}
}

func TestAnAnswerThatIsTypedIsLostWithItsQuestion(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.asked(prompt("req_1", "permission", bash, 0))
	d.keys("ctrl+o", "w")
	d.typed("no")
	d.asked(prompt("req_2", "permission", bash, 0))
	d.Answered("req_1", nil)
	d.keys("enter")
	if got := done[Answer](d); len(got) != 0 {
		t.Errorf("answers %+v", got)
	}
}

func TestQuestionsAreAnsweredByOptionAndInOwnWords(t *testing.T) {
	const one = `"inner":{"question":"Which?","options":[{"label":"red"},{"label":"blue"}]}`
	const many = `"inner":{"question":"Which?","multi":true,"options":[{"label":"red"},{"label":"blue"},{"label":"green"}]}`
	for name, c := range map[string]struct {
		kind, what string
		keys       []string
		words      string
		decision   client.PromptDecision
		response   string
	}{
		"one by number":    {"question", one, []string{"2"}, "", "allow", `{"selected_options":["blue"]}`},
		"one by pointing":  {"question", one, []string{"down", "enter"}, "", "allow", `{"selected_options":["blue"]}`},
		"several":          {"question", many, []string{"1", "3", "enter"}, "", "allow", `{"selected_options":["red","green"]}`},
		"own words":        {"question", one, []string{"t"}, "neither", "allow", `{"custom_text":"neither"}`},
		"words and marks":  {"question", many, []string{"2", "t"}, "but dark", "allow", `{"selected_options":["blue"],"custom_text":"but dark"}`},
		"declined":         {"question", one, []string{"d"}, "", "deny", ""},
		"a step once more": {"step_decision", `"inner":{"scope":"step","step_id":"s","allow_retry":true}`, []string{"r"}, "", "retry", ""},
		"a step given up":  {"step_decision", `"inner":{"scope":"step","step_id":"s"}`, []string{"r", "x"}, "", "cancel", ""},
		"a plan":           {"plan_review", `"inner":{"plan_id":"p","steps":[{"id":"s"}]}`, []string{"a"}, "", "allow", ""},
	} {
		d := day(t, screen.Style{}, 80, 24)
		d.asked(prompt("req_1", c.kind, c.what, 0))
		d.keys("ctrl+o")
		d.keys(c.keys...)
		if c.words != "" {
			d.typed(c.words)
			d.keys("enter")
		}
		got := done[Answer](d)
		if len(got) != 1 || got[0].Input.Decision != c.decision || string(got[0].Input.Response) != c.response {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestARefusedAnswerIsToldAndMayBeGivenAgain(t *testing.T) {
	d := day(t, screen.Style{}, 80, 24)
	d.asked(prompt("req_1", "permission", bash, 0))
	d.keys("ctrl+o", "a")
	d.Answered("req_1", errors.New("the hub is busy"))
	d.mustShow("✗ not answered: the hub is busy", "scout asks")
	d.effects = nil
	d.keys("a")
	if got := done[Answer](d); len(got) != 1 {
		t.Errorf("answers %+v", got)
	}
	d.Answered("req_1", &client.ProblemError{Problem: client.Problem{Code: client.ProblemCodeAlreadyAnswered, Detail: "Answered before: deny."}})
	d.mustShow("Answered before: deny.")
	d.mustNotShow("scout asks")
}
