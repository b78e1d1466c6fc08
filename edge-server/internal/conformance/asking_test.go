package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/conformance"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

// asksEverything asks in every way that the events runtime has, two at once, and repeats the answers in its own.
const asksEverything = `read -r turn
case $turn in *'"permission":true'*)
	printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'
	printf '{"type":"prompt","request_id":"2","kind":"question","inner":{"question":"Which?","options":[{"label":"main"},{"label":"next"}]}}\n'
	read -r answer || exit 1; echo "$answer" >>answers
	read -r answer || exit 1; echo "$answer" >>answers
	printf '{"type":"prompt","request_id":"3","kind":"plan_review","inner":{"plan_id":"p","steps":[{"id":"s"}]}}\n'
	read -r answer || exit 1; echo "$answer" >>answers
	printf '{"type":"prompt","request_id":"4","kind":"step_decision","inner":{"scope":"step","step_id":"s"}}\n'
	read -r answer || exit 1; echo "$answer" >>answers
esac
printf '{"type":"done","answer":"done"}\n'
`

func TestEventsAgentIsAnsweredInWordsOfEachKindThatItAsks(t *testing.T) {
	dir := t.TempDir()
	p := profile.Profile{
		Runtime: profile.Events, Command: "sh", Args: []string{"-c", asksEverything}, Cwd: dir, Grace: 4 * time.Second, Streaming: true, Permission: true,
	}
	report := check(t, p, time.Minute)
	if !report.OK(true) {
		t.Errorf("breaks %v%s", broken(report), reasons(report))
	}
	for _, f := range report.Findings {
		asking := strings.HasPrefix(string(f.Rule.ID), "permission.") || f.Rule.ID == "prompt.fits" || f.Rule.ID == "turn.one-line"
		if asking && f.Rule.ID != "permission.off" && f.Status != conformance.Passed {
			t.Errorf("%s: %s, %s", f.Rule.ID, f.Status, f.Reason)
		}
	}
	answers, err := os.ReadFile(filepath.Join(dir, "answers"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"type":"permission_response","request_id":"1","behavior":"allow"}`,
		`{"type":"permission_response","request_id":"1","behavior":"allow","updated_input":{"changed_by_the_check":true,"command":"ls"}}`,
		`{"type":"permission_response","request_id":"1","behavior":"deny","message":"The check says no."}`,
		`{"type":"prompt_response","request_id":"2","decision":"allow","response":{"selected_options":["main"]}}`,
		`{"type":"prompt_response","request_id":"2","decision":"deny","reason":"The check says no."}`,
		`{"type":"prompt_response","request_id":"3","decision":"allow"}`,
		`{"type":"prompt_response","request_id":"4","decision":"continue"}`,
		`{"type":"prompt_response","request_id":"4","decision":"cancel","reason":"The check says no."}`,
	} {
		if !strings.Contains(string(answers), want+"\n") {
			t.Errorf("no %s in:\n%s", want, answers)
		}
	}
}
