package agentline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files again")

func say(w *agentline.Writer) {
	w.SessionInit("s:1", agentline.Model("m-1"))
	w.State("planning")
	w.Think("hm <é>")
	w.ThinkApart("so be it")
	w.Delta("one ")
	w.ToolCall("1", "search", map[string]any{"q": "a<b"})
	w.ToolResult("1", "search", []string{"x"})
	w.ToolCall("2", "read", nil)
	w.ToolFailed("2", "read", event.ErrorObj{Code: "not_found", Message: "No such file.", Retryable: true})
	w.Artifact("a.md", "text/markdown", []byte("# A\n"))
	w.Artifact("a.bin", "", []byte{0xff, 0})
	w.Ask("1", event.PromptQuestion, event.Question{Question: "a < b?", Options: []event.Choice{{Label: "yes"}}}, time.Minute)
	w.Ask("2", event.PromptStepDecision, event.StepDecision{Scope: event.ScopePlan, Reason: "out of time"}, 0)
	w.Delta("Let me check:")
	w.EndMessage()
	w.ToolInput("3", `{"command":`)
	w.ToolCall("3", "Task", nil, agentline.Intent("Finds bugs."))
	sub := w.Begin(event.TaskStartedPayload{AgentID: "sub_e5", Name: "finder", ToolCallID: "3"})
	sub.Think("hm")
	sub.Delta("Looking.")
	sub.ToolCall("1", "grep", nil)
	sub.ToolResult("1", "grep", "Found 3", agentline.Metadata(map[string]string{"render_hint": "search"}))
	sub.Fact(event.TaskNotification, event.TaskNotificationPayload{Text: "halfway"})
	sub.Artifact("bugs.md", "text/markdown", []byte("# Bugs\n"), agentline.MadeBy("1", "report"))
	sub.Ask("3", event.PromptQuestion, event.Question{Question: "Which?"}, 0)
	inner := sub.Begin(event.TaskStartedPayload{AgentID: "sub_z", Name: "reader"})
	inner.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: "sub_z", Status: event.WorkOK})
	sub.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: "sub_e5", Status: event.WorkOK})
	w.ToolResult("3", "Task", "Found 3")
	w.Metrics(map[string]any{"turns": 1})
	w.Done("one two")
	w.Fail("rate_limit", "Wait a minute.", true)
}

func TestLinesAreTheOnesOfTheProtocol(t *testing.T) {
	var got bytes.Buffer
	w := agentline.NewWriter(&got)
	say(w)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	golden := filepath.Join("testdata", "lines.ndjson")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

func TestEveryLineOfTheWriterIsRead(t *testing.T) {
	var out bytes.Buffer
	say(agentline.NewWriter(&out))
	for line := range bytes.Lines(out.Bytes()) {
		l, err := agentline.Parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		again, err := event.Encode(l)
		if err != nil || string(again)+"\n" != string(line) {
			t.Errorf("read %s, wrote %s (%v)", line, again, err)
		}
	}
}

func TestMetricsReportTheChainOfWhatWasSaid(t *testing.T) {
	var out bytes.Buffer
	w := agentline.NewWriter(&out)
	w.Delta("a")
	w.Delta("b")
	w.Metrics(nil)
	var want contentchain.Chain
	want.Text("ab")
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	last, err := agentline.Parse(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := contentchain.Reported(last.Payload); !ok || got != want.Head() {
		t.Errorf("reported %+v, want %+v", got, want.Head())
	}
}

func TestWhatIsNoEventSaysWhy(t *testing.T) {
	cases := map[string]agentline.Reason{
		``:                agentline.NotJSON,
		`hello`:           agentline.NotJSON,
		`{"type":"delta"`: agentline.NotJSON,
		"{\"type\":\"delta\",\"content\":\"\x00\"}": agentline.NotJSON,
		`"delta"`:                       agentline.NotObject,
		`[]`:                            agentline.NotObject,
		`{}`:                            agentline.UnknownType,
		`{"type":"Delta"}`:              agentline.UnknownType,
		`{"Type":"partial","text":"x"}`: agentline.UnknownType,
		`{"type":"Partial","text":"x"}`: agentline.UnknownType,
		`{"type":"permission_request","tool_name":"x","input":{}}`:           agentline.BadField,
		`{"type":"prompt","kind":"question","inner":{}}`:                     agentline.BadField,
		`{"type":"prompt","request_id":"a b","kind":"question"}`:             agentline.BadField,
		`{"type":"run.started"}`:                                             agentline.UnknownType,
		`{"type":"run.agent."}`:                                              agentline.UnknownType,
		`{"type":"run.agent.a b"}`:                                           agentline.UnknownType,
		`{"type":7}`:                                                         agentline.BadField,
		`{"type":"delta","content":7}`:                                       agentline.BadField,
		`{"type":"session_init"}`:                                            agentline.BadField,
		`{"type":"artifact"}`:                                                agentline.BadField,
		`{"type":"artifact","artifact":{"filename":"x"}}`:                    agentline.BadField,
		`{"type":"artifact","artifact":{"path":"x","content":""}}`:           agentline.BadField,
		`{"type":"done","answer":` + string(bytes.Repeat([]byte("["), 5000)): agentline.TooDeep,
	}
	for line, want := range cases {
		_, err := agentline.Parse([]byte(line))
		var ignored *agentline.IgnoredError
		if !errors.As(err, &ignored) || ignored.Reason != want {
			t.Errorf("%.60s: %v, want %s", line, err, want)
		}
	}
}

func TestNewerAgentsAreUnderstood(t *testing.T) {
	for _, line := range []string{
		`{"type":"delta","content":"x","later":{"a":1}}`, `{"type":"run.agent.future_thing","payload":{"a":1}}`, `{"type":"run.checkpoint"}`,
		`{"type":"artifact","artifact":{"content":""}}`, " {\"type\":\"done\"}\t",
	} {
		if _, err := agentline.Parse([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestLinesOfTheBridgeProtocolAreReadByItsRules(t *testing.T) {
	for _, line := range []string{
		`{"type":"partial","text":"x","role":"thinking","session_id":"s-1"}`, `{"type":"partial","text":7,"session_id":"a/b"}`,
		`{"type":"result","text":"all","usage":{"input_tokens":1}}`, `{"type":"result","usage":7}`,
		`{"type":"error","message":"no luck"}`, `{"type":"error","message":7}`, `{"type":"error"}`,
		`{"type":"permission_request","request_id":"1","tool_name":"x","input":{"a":1.0}}`, `{"type":"permission_request","request_id":"1"}`,
		`{"type":"permission_request","request_id":"1","tool_name":"x","input":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40) + "}",
	} {
		want, err := bridge.ParseLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		got, err := agentline.Parse([]byte(line))
		if err != nil || got.Bridge == nil || !reflect.DeepEqual(*got.Bridge, want) {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{`{"type":"error","error_code":"x"}`, `{"type":"error","error_message":"no","message":"luck"}`, `{"type":"delta","text":"x"}`} {
		if got, err := agentline.Parse([]byte(line)); err != nil || got.Bridge != nil {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	if got, err := agentline.Parse([]byte(`{"type":"error","message":"wait","retryable":true}`)); err != nil || !got.Retryable {
		t.Errorf("%+v, %v", got, err)
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, os.ErrClosed
}

func TestWriterStopsAtTheFirstError(t *testing.T) {
	b := &broken{}
	w := agentline.NewWriter(b)
	say(w)
	if !errors.Is(w.Err(), os.ErrClosed) || b.writes != 1 {
		t.Errorf("%v after %d writes", w.Err(), b.writes)
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "lines.ndjson"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(golden) {
		f.Add(line)
	}
	f.Add([]byte(`{"type":"partial","text":"x","role":"thinking","session_id":"s"}`))
	f.Add([]byte(`{"type":"error","message":"x","usage":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := agentline.Parse(data)
		if err == nil && !json.Valid(data) {
			t.Fatalf("accepted %q", data)
		}
		if _, ok := l.Piece(); ok && !l.Streamed() {
			t.Fatal("a thought that is none")
		}
	})
}
