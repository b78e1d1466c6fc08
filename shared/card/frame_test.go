package card_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// frames has one frame of each type, with every key, by the name of its golden file.
func frames() map[string]card.ClientFrame {
	failure := card.NewError(card.ToolTimeout, "too slow", card.English)
	return map[string]card.ClientFrame{
		"session.create": card.SessionCreate{
			SessionID: sessionID, AgentID: "agent_1", Capabilities: card.Capabilities{ClientTools: true},
			Tools: []card.ClientTool{{Name: "open_tab", Description: "Opens <a> tab.", InputSchema: json.RawMessage(`{"type":"object"}`), TimeoutMS: 30000}},
		},
		"user.message": card.UserMessage{
			AgentID: "agent_1", CoordinatorMode: "plan", PlanConfirmation: "required",
			Content: card.Content{
				{Type: card.TextBlock, Text: "调研 X < 写 Y"},
				{Type: card.ImageBlock, Source: card.Source{Type: card.PathSource, Path: "/tmp/x.png"}},
				{Type: card.ImageBlock, Source: card.Source{Type: card.URLSource, URL: "https://x.test/a.png"}},
				{Type: card.FileBlock, Source: card.Source{Type: card.DataSource, Data: []byte("hi"), Filename: "hi.txt", MediaType: "text/plain"}},
				{Type: card.FileBlock, Source: card.Source{Type: card.UploadSource, AttachmentID: "att_1"}},
			},
		},
		"user.inject":                        card.UserInject{TraceID: traceID, Text: "and Z"},
		"tool.result":                        card.ToolResult{ToolUseID: "toolu_1", Status: "ok", Output: json.RawMessage(`"done"`), Metadata: map[string]any{"tab": "1"}},
		"tool.result.failed":                 card.ToolResult{ToolUseID: "toolu_1", Status: "failed", Error: &failure},
		"prompt.user_response":               card.PromptResponse{RequestID: requestID, Decision: "denied"},
		"prompt.user_response.permission":    card.PromptResponse{RequestID: requestID, Decision: "approved", Payload: json.RawMessage(`{"approved":true,"scope":"once","message":""}`)},
		"prompt.user_response.question":      card.PromptResponse{RequestID: requestID, Decision: "approved", Payload: json.RawMessage(`{"selected_options":["是"],"custom_text":""}`)},
		"prompt.user_response.plan_review":   card.PromptResponse{RequestID: requestID, Decision: "approved", Payload: json.RawMessage(`{"approved":true,"updated_steps":[],"reason":""}`)},
		"prompt.user_response.step_decision": card.PromptResponse{RequestID: requestID, Decision: "retry", Payload: json.RawMessage(`{"note":"once more"}`)},
		"session.interrupt":                  card.SessionInterrupt{TraceID: traceID},
		"session.resume":                     card.SessionResume{TraceID: traceID, LastSeq: 42, MessageCursors: map[string]int64{"msg_1": 40}},
		"ping":                               card.Ping{},
		"pong":                               card.Pong{},
	}
}

func TestFrameBytes(t *testing.T) {
	for name, frame := range frames() {
		eventID := "c1"
		if name == "ping" || name == "pong" {
			eventID = ""
		}
		line, err := card.EncodeFrame(frame, eventID)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("frames", name+".json"), line)
		got, err := card.ReadFrame(line)
		typ, _, _ := strings.Cut(strings.TrimPrefix(string(line), `{"type":"`), `"`)
		if err != nil || got.EventID != eventID || got.Type != typ || !reflect.DeepEqual(got.Frame, frame) {
			t.Errorf("%s is read as %+v, %v", name, got, err)
		}
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil || strings.Count(string(line), "\n") != 1 || !bytes.HasSuffix(line, []byte("\n")) {
			t.Errorf("%s: %q", name, line)
		}
		later := append([]byte(`{"added_later":{"x":1},`), line[1:]...)
		if again, err := card.ReadFrame(later); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s with another key is read as %+v, %v", name, again, err)
		}
	}
	files, err := os.ReadDir(filepath.Join("testdata", "frames"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(frames()) {
		t.Errorf("%d files for %d frames", len(files), len(frames()))
	}
	for name, bare := range map[string]string{"ping": `{"type":"ping"}`, "pong": `{"type":"pong"}`} {
		if line, err := card.EncodeFrame(frames()[name], ""); err != nil || string(line) != bare+"\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
}

func TestContentHasThreeForms(t *testing.T) {
	want := card.Content{{Type: card.TextBlock, Text: "Hi"}}
	for _, form := range []string{`"content":{"text":"Hi"}`, `"content":[{"type":"text","text":"Hi"}]`, `"content":"Hi"`, `"text":"Hi"`, `"text":"Hi","content":null`} {
		got, err := card.ReadFrame([]byte(`{"type":"user.message",` + form + `}`))
		if message, ok := got.Frame.(card.UserMessage); err != nil || !ok || !reflect.DeepEqual(message.Content, want) || message.Text != "" {
			t.Errorf("%s: %+v, %v", form, got, err)
		}
	}
}

func TestABadFrameIsAnInvalidInputThatSaysWhatToDo(t *testing.T) {
	deep := `{"type":"tool.result","tool_use_id":"t","status":"ok","output":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`
	long := strings.Repeat("x", 300)
	for frame, says := range map[string]string{
		``:                              "JSON object",
		`null`:                          "JSON object",
		`[]`:                            "JSON object",
		`{"type":"ping"} {}`:            "JSON object",
		`{"type":"ping"`:                "JSON object",
		deep:                            "nested",
		`{}`:                            `type "".`,
		`{"type":7}`:                    "strings",
		`{"type":"ping","event_id":{}}`: "strings",
		`{"type":"ping","event_id":"` + long + `"}`:                                                                "event_id",
		`{"type":"card.add"}`:                                                                                      "session.create, user.message",
		`{"type":"` + long + `"}`:                                                                                  "xx…",
		`{"type":"session.create","session_id":1}`:                                                                 "session_id cannot be a number",
		`{"type":"session.create","session_id":"` + long + `"}`:                                                    "256",
		`{"type":"session.create","tools":[{}]}`:                                                                   "name",
		`{"type":"session.create","tools":[{"name":"a"},{"name":"a"}]}`:                                            "name",
		`{"type":"session.create","tools":[{"name":"a","input_schema":[]}]}`:                                       "input_schema",
		`{"type":"session.create","tools":[{"name":"a","input_schema":{"type":"array"}}]}`:                         "Tool 1: the type of its input_schema",
		`{"type":"session.create","tools":[{"name":"a"},{"name":"b","input_schema":{"type":["array","null"]}}]}`:   "Tool 2: the type of its input_schema",
		`{"type":"session.create","tools":[{"name":"a","timeout_ms":-1}]}`:                                         "timeout_ms",
		`{"type":"user.message"}`:                                                                                  "nothing to send",
		`{"type":"user.message","content":[]}`:                                                                     "nothing to send",
		`{"type":"user.message","content":7}`:                                                                      "list of blocks",
		`{"type":"user.message","content":["a"]}`:                                                                  "list of blocks",
		`{"type":"user.message","content":{"text":7}}`:                                                             "list of blocks",
		`{"type":"user.message","text":"a","content":"b"}`:                                                         "not both",
		`{"type":"user.message","content":""}`:                                                                     "Block 1",
		`{"type":"user.message","content":[{"type":"video"}]}`:                                                     "text, image or file",
		`{"type":"user.message","content":["a"],"x":1}`:                                                            "list of blocks",
		`{"type":"user.message","content":[{"type":"image"}]}`:                                                     "source",
		`{"type":"user.message","content":[{"type":"image","source":{"type":"ftp"}}]}`:                             "source",
		`{"type":"user.message","content":[{"type":"image","source":{"type":"path","url":"x"}}]}`:                  "lacks",
		`{"type":"user.message","content":[{"type":"file","source":{"type":"base64","data":"%"}}]}`:                "list of blocks",
		`{"type":"user.message","text":"a","coordinator_mode":"fast"}`:                                             "react or plan",
		`{"type":"user.message","text":"a","plan_confirmation":"no"}`:                                              "auto or required",
		`{"type":"user.message","content":[` + strings.TrimSuffix(strings.Repeat(`{"text":"a"},`, 65), ",") + `]}`: "64",
		`{"type":"user.inject"}`:                                                                                   "text",
		`{"type":"tool.result","status":"ok"}`:                                                                     "tool_use_id",
		`{"type":"tool.result","tool_use_id":"t","status":"great"}`:                                                "status",
		`{"type":"tool.result","tool_use_id":"t","status":"ok","error":{"type":"internal"}}`:                       "error",
		`{"type":"prompt.user_response","decision":"approved"}`:                                                    "request_id",
		`{"type":"session.resume"}`:                                                                                "trace_id",
		`{"type":"session.resume","trace_id":"tr_1"}`:                                                              "last_seq",
		`{"type":"session.resume","trace_id":"tr_1","last_seq":null}`:                                              "last_seq",
		`{"type":"session.resume","trace_id":"tr_1","last_seq":-1}`:                                                "last_seq",
		`{"type":"session.resume","trace_id":"tr_1","last_seq":1.5}`:                                               "last_seq cannot be a number 1.5",
		`{"type":"session.resume","trace_id":"tr_1","last_seq":99999999999999999999}`:                              "last_seq",
		`{"type":"session.resume","trace_id":"tr_1","message_cursors":[]}`:                                         "cannot be an array",
		`{"type":"session.resume","trace_id":"tr_1","message_cursors":{"a":-1}}`:                                   "message_cursors",
		`{"type":"session.interrupt","trace_id":"` + long + `"}`:                                                   "256",
	} {
		got, err := card.ReadFrame([]byte(frame))
		if err == nil || got.Frame != nil {
			t.Errorf("%.120s is read as %+v", frame, got)
			continue
		}
		info := card.Refusal(err, card.English)
		if info.Type != card.InvalidInput || !strings.Contains(info.Message, says) || strings.Contains(info.Message, "Go ") || len(info.Message) > 300 {
			t.Errorf("%.120s: %+v", frame, info)
		}
	}
}

func TestABadFrameStillSaysWhichItWas(t *testing.T) {
	got, err := card.ReadFrame([]byte(`{"type":"user.message","event_id":"c7"}`))
	if err == nil || got.Type != "user.message" || got.EventID != "c7" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnswersAreInTheWordsOfTheRecord(t *testing.T) {
	for _, c := range []struct {
		kind              event.PromptKind
		decision, payload string
		want              card.Answer
	}{
		{event.PromptPermission, "approved", ``, card.Answer{Decision: event.Allow}},
		{event.PromptPermission, "approved", `{"approved":true,"scope":"session","message":"go"}`, card.Answer{Decision: event.Allow, Scope: "session", Reason: "go"}},
		{event.PromptPermission, "denied", `{"approved":false,"message":"no"}`, card.Answer{Decision: event.Deny, Reason: "no"}},
		{event.PromptPermission, "denied", `null`, card.Answer{Decision: event.Deny}},
		{event.PromptQuestion, "approved", `{"selected_options":["是"],"custom_text":""}`, card.Answer{Decision: event.Allow, Response: json.RawMessage(`{"selected_options":["是"]}`)}},
		{event.PromptQuestion, "denied", `{"selected_options":[]}`, card.Answer{Decision: event.Deny}},
		{event.PromptPlanReview, "approved", `{"approved":true,"updated_steps":[],"reason":"ok"}`, card.Answer{Decision: event.Allow, Reason: "ok"}},
		{event.PromptPlanReview, "approved", `{"updated_steps":[{"id":"s1"}]}`, card.Answer{Decision: event.Allow, Response: json.RawMessage(`{"updated_steps":[{"id":"s1"}]}`)}},
		{event.PromptPlanReview, "denied", `{"approved":false,"updated_steps":[{"id":"s1"}],"reason":"no"}`, card.Answer{Decision: event.Deny, Reason: "no"}},
		{event.PromptStepDecision, "continue", `{"note":"fine"}`, card.Answer{Decision: event.GoOn, Reason: "fine"}},
		{event.PromptStepDecision, "retry", ``, card.Answer{Decision: event.TryAgain}},
		{event.PromptStepDecision, "cancel", ``, card.Answer{Decision: event.GiveUp}},
		{event.PromptStepDecision, "", `{"decision":"retry"}`, card.Answer{Decision: event.TryAgain}},
		{event.PromptStepDecision, "continue", `{"decision":"retry"}`, card.Answer{Decision: event.GoOn}},
		{event.PromptStepDecision, "approved", ``, card.Answer{Decision: event.GiveUp}},
		{event.PromptStepDecision, "", ``, card.Answer{Decision: event.GiveUp}},
		{event.PromptStepDecision, "retry", `[`, card.Answer{Decision: event.TryAgain}},
	} {
		got, err := card.PromptResponse{RequestID: requestID, Decision: c.decision, Payload: json.RawMessage(c.payload)}.Answer(c.kind)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s %s: %+v, %v", c.kind, c.decision, c.payload, got, err)
		}
	}
}

func TestABadDecisionIsRefusedForThreeKinds(t *testing.T) {
	for _, kind := range []event.PromptKind{event.PromptPermission, event.PromptQuestion, event.PromptPlanReview} {
		for _, c := range [][2]string{
			{"", ``}, {"yes", ``}, {"continue", ``}, {"cancel", ``}, {"Approved", ``}, {"", `{"approved":true}`}, {"approved", `{"surprise":1}`}, {"approved", `7`},
			{"approved", `{"approved":false}`},
		} {
			got, err := card.PromptResponse{RequestID: requestID, Decision: c[0], Payload: json.RawMessage(c[1])}.Answer(kind)
			if fault.CodeOf(err) != fault.InvalidRequest {
				t.Errorf("%s %q %s is %+v, %v", kind, c[0], c[1], got, err)
			}
		}
	}
	scope := card.PromptResponse{Decision: "approved", Payload: json.RawMessage(`{"scope":"ever"}`)}
	if got, err := scope.Answer(event.PromptPermission); err == nil {
		t.Errorf("%+v", got)
	}
}

func TestRepliesHaveFourWords(t *testing.T) {
	for d, want := range map[event.Decision][2]string{
		event.Allow: {"approved"}, event.Deny: {"denied"}, event.GoOn: {"approved", "continue"}, event.TryAgain: {"approved", "retry"},
		event.GiveUp: {"cancelled"}, event.NoAnswer: {"timeout"},
	} {
		if decision, reason := card.ReplyTo(d); string(decision) != want[0] || reason != want[1] {
			t.Errorf("%s: %s %q", d, decision, reason)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	for _, frame := range frames() {
		line, err := card.EncodeFrame(frame, "c1")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"type":"user.message","content":{"text":"Hi"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := card.ReadFrame(line)
		if err != nil {
			if got.Frame != nil || card.Refusal(err, "").Type != card.InvalidInput {
				t.Errorf("%q: %+v, %v", line, got, err)
			}
			return
		}
		if answer, ok := got.Frame.(card.PromptResponse); ok {
			for _, kind := range []event.PromptKind{event.PromptPermission, event.PromptQuestion, event.PromptPlanReview, event.PromptStepDecision} {
				_, _ = answer.Answer(kind)
			}
		}
		again, err := card.EncodeFrame(got.Frame, got.EventID)
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", line, err)
		}
		back, err := card.ReadFrame(again)
		if err != nil {
			t.Fatalf("%q was written and cannot be read: %v", again, err)
		}
		if twice, err := card.EncodeFrame(back.Frame, back.EventID); err != nil || !bytes.Equal(again, twice) {
			t.Errorf("%q became %q, %v", again, twice, err)
		}
	})
}

func TestToolsOfAClientTakeObjects(t *testing.T) {
	for _, schema := range []string{`{}`, `{"type":"object"}`, `{"type":["null","object"]}`, `{"properties":{"type":{"type":"array"}}}`} {
		frame := `{"type":"session.create","tools":[{"name":"a","input_schema":` + schema + `}]}`
		if _, err := card.ReadFrame([]byte(frame)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
