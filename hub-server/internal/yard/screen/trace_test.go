package screen

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// traced is one message of each kind, and some that end badly.
func traced(t *testing.T) (all []omni.Message) {
	t.Helper()
	say := func(origin string, payloads ...omni.Payload) {
		for _, p := range payloads {
			m, err := omni.New(time.Date(2026, 7, 18, 7, 30, 0, 0, time.UTC), p)
			if err == nil && origin != "" {
				m, err = m.WithOrigin(origin)
			}
			if err != nil {
				t.Fatalf("%T: %v", p, err)
			}
			all = append(all, m)
		}
	}
	wait := omni.Count(2500)
	cut := omni.AssistantText("Let me \x1b[31mlook\x1b[0m at\r\nboth.")
	cut.StopReason = omni.Aborted
	timeout := omni.ToolCallOutput("c2", "", "data:image/png;base64,aGk=")
	timeout.StopReason = omni.Timeout
	begun := omni.CompactionBegin(omni.ContextReached, omni.Summarize, 90_000, 7)
	say("", omni.SessionMetaPayload{SessionID: "sess_1", ModelID: "fable-5", ModelContextWindow: omni.ContextWindow{Tokens: 1}, Workspace: "/work"},
		omni.UserText("列出 <文件>"), omni.ImageURL("https://example.com/a.png"), omni.ImageURL("data:image/png;base64,aGVsbG8="),
		omni.RequestBegin(), omni.RequestEnd(omni.Timeout, omni.RetryDetail{ErrorMessage: "No answer.", Attempt: 1, RetryInMS: &wait}),
		omni.RequestBegin(), omni.PartialText(omni.Start, ""), omni.Thinking("Two?", nil), omni.InlineThinking("application/x", "aGk="), cut,
		omni.ToolCall("c1", "bash", `{"command":"ls -la"}`), omni.ApprovalDecision("c1", omni.Allow),
		omni.ToolCall("c2", "draw", `{"a":1}`), omni.ApprovalDecision("c2", omni.Deny), omni.ApprovalDecision("nobody's", "forbidden"),
		omni.RequestEnd(omni.Completed, omni.RetryDetail{}), omni.Subagent("run_1/scout"))
	say("run_1/scout", omni.SessionMetaPayload{SessionID: "run_1/scout", ModelContextWindow: omni.ContextWindow{Tokens: 1}}, omni.AssistantText("Two."))
	say("", omni.ToolCallOutput("c1", strings.Repeat("a line\n", 12)), timeout, omni.InlineData(omni.Assistant, "audio/wav", "aGVsbG8="),
		omni.TokenUsage(omni.TokenCounts{Total: 10}, omni.TokenCounts{Output: 5, Total: 5}), begun, omni.CompactionEnd(begun, omni.Failed, omni.RetryDetail{ErrorMessage: "Too long.", Attempt: 1}),
		omni.CompactionEnd(begun, omni.Completed, omni.RetryDetail{}), omni.Abort("enough"))
	later, err := omni.Decode([]byte(`{"timestamp":"2026-07-18T07:30:00Z","type":"event_msg","payload":{"type":"a_later_one"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return append(all, later)
}

func TestATraceIsShownAsAPersonReadsIt(t *testing.T) {
	for name, style := range map[string]Style{"plain": {}, "colour": Coloured()} {
		var out bytes.Buffer
		teller := NewTraceTeller(&out, style)
		for _, m := range traced(t) {
			if err := teller.Message(m); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join("testdata", fmt.Sprintf("trace.%s.txt", name))
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, out.String(), want)
		}
		if strings.Contains(out.String(), "\x1b[31mlook") {
			t.Error("what an agent writes reaches the terminal as a sequence")
		}
	}
}
