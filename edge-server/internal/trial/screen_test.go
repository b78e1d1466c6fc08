package trial_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestTerminalShowsReasoningDimmedAndNoEscapes(t *testing.T) {
	var both strings.Builder
	screen := &trial.Screen{Out: &both, Err: &both, Terminal: true, Colour: true}
	screen.Said(run.Delta{Channel: run.Thought, Text: "hm"})
	screen.Said(run.Delta{Text: "a\x1b[2Jb\r\u202ec"})
	screen.Printed("loading")
	screen.Said(run.Delta{Text: "d\n"})
	screen.End(trial.Result{}, "try")
	want := "\x1b[2mhm\x1b[0m\na\ufffd[2Jbc\n\x1b[2mstderr  │\x1b[0m loading\nd\n\x1b[2mdone    │\x1b[0m after 0s\n"
	if both.String() != want {
		t.Errorf("got  %q\nwant %q", both.String(), want)
	}
}

func TestProgramsGetALineForEachThing(t *testing.T) {
	var out syncBuilder
	lines := trial.NewLines(&out)
	a := agent(t, profile.Bridge, `read -r turn
echo "not <an> event"; echo careful >&2
printf '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls"}}\n'; read -r answer
printf '{"type":"partial","role":"thinking","text":"hm","session_id":"s"}\n{"type":"result","text":"x","usage":{"output_tokens":1}}\n'`)
	a.Profile.Permission = true
	result, err := a.Play(t.Context(), host, bridge.Turn{Message: "x"}, trial.Nobody{}, lines)
	if err != nil {
		t.Fatal(err)
	}
	lines.End(result)
	var types []string
	for line := range strings.Lines(out.String()) {
		var told struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(line), &told); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		types = append(types, told.Type)
	}
	for _, want := range []string{"unused", "stderr", "permission", "fact", "text", "answer", "end"} {
		if !slices.Contains(types, want) {
			t.Errorf("no %s in:\n%s", want, out.String())
		}
	}
	mustHold(t, out.String(), `{"type":"unused","line":"not <an> event","reason":"not_json"}`, `"behavior":"deny"`, `"session_id":"s","usage":{"output_tokens":1}`)
}

func TestAttachmentsAreDescribedByWhatTheyAre(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b.png")
	if err := os.WriteFile(file, []byte("png"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]bridge.Attachment{
		"https://example.org/x/cat.jpg?s=1": {Kind: "image", URL: "https://example.org/x/cat.jpg?s=1", Filename: "cat.jpg", MIMEType: "image/jpeg"},
		"https://example.org":               {Kind: "other", URL: "https://example.org"},
		"data:text/plain;base64,aGk=":       {Kind: "file", URL: "data:text/plain;base64,aGk=", MIMEType: "text/plain"},
		"data:,hi":                          {Kind: "other", URL: "data:,hi"},
		file: {
			Kind: "image", URL: "file://" + strings.ReplaceAll(file, " ", "%20"), Filename: "a b.png", MIMEType: "image/png", Size: 3,
		},
	} {
		if got, err := trial.Attach(what); err != nil || got != want {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", what, got, err, want)
		}
	}
	if _, err := trial.Attach(file + ".gone"); err == nil {
		t.Error("a file that is not there was attached")
	}
}
