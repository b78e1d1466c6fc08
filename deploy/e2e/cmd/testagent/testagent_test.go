package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const turn = `{"type":"turn","message":"go","session_id":"","protocol_version":"0.4"}` + "\n"

func TestTheBookHoldsWhatWasSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book")
	var out bytes.Buffer
	args := []string{"--events", "60", "--tools", "--artifact", "a.md", "--truth", path}
	if err := run(t.Context(), args, strings.NewReader(turn), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	accounts, err := truth.Read(path)
	if err != nil || len(accounts) != 1 || accounts[0].Prompt != "go" {
		t.Fatalf("%d accounts (%v)", len(accounts), err)
	}
	var reported contentchain.Head
	lines := 0
	for raw := range bytes.Lines(out.Bytes()) {
		line, err := agentline.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if head, ok := contentchain.Reported(line.Payload); ok && event.Type(line.Type) == event.SessionMetrics {
			reported = head
		}
		lines++
	}
	if want := len(accounts[0].Items) + 2; lines != want {
		t.Errorf("%d lines, want %d: one per item, the report and done", lines, want)
	}
	if reported.Items == 0 {
		t.Error("the chain was not reported")
	}
}

// ending takes back the work of an agent as soon as it has called a tool.
type ending struct {
	bytes.Buffer
	work string
}

func (e *ending) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(toolName)) {
		os.Remove(e.work) //nolint:errcheck // it goes on for ever otherwise, which the test sees
	}
	return e.Buffer.Write(p)
}

func TestAnAgentThatIsToEndLeavesNoCallOpen(t *testing.T) {
	out := &ending{work: filepath.Join(t.TempDir(), "work")}
	if err := os.WriteFile(out.work, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"--events", "60", "--tools", "--while", out.work}, strings.NewReader(turn), out, io.Discard); err != nil {
		t.Fatal(err)
	}
	calls, ends := bytes.Count(out.Bytes(), []byte(`"type":"tool_call"`)), bytes.Count(out.Bytes(), []byte(`"type":"tool_result"`))
	if calls != 1 || ends != 1 {
		t.Errorf("%d calls and %d ends:\n%s", calls, ends, out.Bytes())
	}
}

func TestALongLineIsLong(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--act", "longline"}, strings.NewReader(turn), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if first := bytes.IndexByte(out.Bytes(), '\n'); first != longLine {
		t.Errorf("the first line has %d bytes, want %d", first, longLine)
	}
}

func TestALargeTextIsOneLine(t *testing.T) {
	for _, kind := range []string{"piece", "answer"} {
		for _, speak := range []string{"bridge", "events"} {
			var out bytes.Buffer
			if err := run(t.Context(), []string{"--flood", kind, "--speak", speak}, strings.NewReader(turn), &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			first, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
			if _, err := agentline.Parse(first); err != nil || len(first) < mostText || len(first) > 10<<20 {
				t.Errorf("%s in %s: %d bytes, %v", kind, speak, len(first), err)
			}
		}
	}
}

func TestAFloodEndsInGoodForm(t *testing.T) {
	for _, kind := range []string{"partials", "noise", "endless", "long"} {
		for speak, last := range map[string]string{"bridge": `{"type":"result","text":""}`, "events": `{"type":"done"}`} {
			var out bytes.Buffer
			if err := run(t.Context(), []string{"--flood", kind, "--speak", speak, "--for", "1ms"}, strings.NewReader(turn), &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if n := len(lines); n < 3 || lines[n-1] != last || !strings.Contains(lines[n-2], "still here after") {
				t.Errorf("%s in %s ends in %q", kind, speak, lines[max(0, len(lines)-2):])
			}
		}
	}
}
