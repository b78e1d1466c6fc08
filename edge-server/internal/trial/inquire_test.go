package trial_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

const (
	which = `{"question":"Which branch?","options":[{"label":"main"},{"label":"next","description":"the new one"}]}`
	both  = `{"question":"Which?","options":[{"label":"a"},{"label":"b"}],"multi":true,"allow_custom":false}`
	plan  = `{"plan_id":"p","goal":"tidy up","steps":[{"id":"s1","description":"look"},{"id":"s2","depends_on":["s1"]}]}`
	step  = `{"scope":"step","step_id":"s1","reason":"It is stuck.","allow_retry":true}`
)

// prompting is an agent that asks with one prompt and repeats the answer.
func prompting(t *testing.T, kind, inner, more string) trial.Agent {
	t.Helper()
	a := agent(t, profile.Events, fmt.Sprintf(`read -r turn
printf '{"type":"prompt","request_id":"1","kind":"%s","inner":%s%s}\n'; read -r answer; echo "$answer" >&2; printf '{"type":"done","answer":"x"}\n'`,
		kind, inner, more))
	a.Profile.Permission, a.Profile.Policy = true, profile.DenyAll // which is about tools
	return a
}

func TestPersonAnswersPromptsInPlainWords(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, inner string
		typed       []string
		want, seen  string
	}{
		"a number":            {"question", which, []string{"2"}, `"decision":"allow","response":{"selected_options":["next"]}}`, "2  next  the new one"},
		"own words":           {"question", which, []string{"", "the old one"}, `"decision":"allow","response":{"custom_text":"the old one"}}`, "Which branch?"},
		"no":                  {"question", which, []string{"/deny not now"}, `"decision":"deny","reason":"not now"}`, "/deny"},
		"several":             {"question", both, []string{"1, 2"}, `"response":{"selected_options":["a","b"]}}`, "1  a"},
		"words do not fit":    {"question", both, []string{"c", "1"}, `"response":{"selected_options":["a"]}}`, "That does not fit: the answer must be one of the options."},
		"a plan":              {"plan_review", plan, []string{"perhaps", "y"}, `"decision":"allow"}`, "s2    (after s1)"},
		"a plan is refused":   {"plan_review", plan, []string{"no too long"}, `"decision":"deny","reason":"too long"}`, "tidy up"},
		"a step":              {"step_decision", step, []string{"y", "Retry once more"}, `"decision":"retry","reason":"once more"}`, "Step s1 has failed. It is stuck."},
		"no way to try again": {"step_decision", `{"scope":"plan"}`, []string{"retry", "cancel"}, `"decision":"cancel"}`, "it cannot be tried again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, person := terminal(t)
			seen := make(chan string, 1)
			go func() {
				in := bufio.NewReader(person)
				var all strings.Builder
				for _, line := range tt.typed {
					text, _ := in.ReadString(']')
					all.WriteString(text)
					_, _ = in.ReadByte() // the space behind it
					_, _ = io.WriteString(person, line+"\n")
				}
				seen <- all.String()
			}()
			a := prompting(t, tt.kind, tt.inner, "")
			got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, trial.ByPolicy{Profile: a.Profile, Person: trial.AskAt(program)})
			mustHold(t, got.err, tt.want, "told    │ "+tt.kind+": ")
			mustHold(t, <-seen, tt.seen)
		})
	}
}

func TestPromptThatNobodyAnswersIsATimeout(t *testing.T) {
	program, person := terminal(t)
	go io.Copy(io.Discard, person) //nolint:errcheck // until the test closes it
	for name, tt := range map[string]struct {
		approver trial.Approver
		want     string
	}{
		"no terminal": {trial.Nobody{}, `"decision":"timeout","reason":"There is no terminal to ask at."}`},
		"no answer":   {trial.AskAt(program), `"decision":"timeout","reason":"Nobody answered."}`},
	} {
		a := prompting(t, "question", which, `,"timeout_ms":200`)
		got := play(t.Context(), t, a, bridge.Turn{Message: "x"}, tt.approver)
		if got.ExitCode != 0 || !strings.Contains(got.err, tt.want) {
			t.Errorf("%s: %+v\n%s", name, got.Result, got.err)
		}
	}
}

func TestPromptAfterOneThatNobodyAnsweredIsAsked(t *testing.T) {
	program, person := terminal(t)
	at := trial.AskAt(program)
	over, end := context.WithCancel(t.Context())
	end()
	go func() {
		in := bufio.NewReader(person)
		_, _ = in.ReadString(']')
		_, _ = in.ReadString(']')
		_, _ = in.ReadByte()
		_, _ = io.WriteString(person, "y\n")
	}()
	if first := at.Approve(over, bridge.PermissionRequest{RequestID: "1", ToolName: "Bash"}); first.Behavior != bridge.Deny {
		t.Errorf("%+v", first)
	}
	if second := at.Approve(t.Context(), bridge.PermissionRequest{RequestID: "2", ToolName: "Bash"}); second.Behavior != bridge.Allow {
		t.Errorf("%+v", second)
	}
}

func TestProgramsAreToldPromptsWithTheirAnswers(t *testing.T) {
	var out syncBuilder
	a := prompting(t, "step_decision", step, "")
	if _, err := a.Play(t.Context(), host, bridge.Turn{Message: "x"}, trial.Nobody{}, trial.NewLines(&out)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, out.String(), `{"type":"prompt","reason":"There is no terminal to ask at.","request_id":"1","kind":"step_decision","inner":`+step+`,"decision":"timeout"}`)
}
