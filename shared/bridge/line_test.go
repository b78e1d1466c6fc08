package bridge_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

type lineCase struct {
	rule    string
	line    string
	want    bridge.Line
	ignored bridge.Reason
}

func partial(text string) bridge.Line {
	return bridge.Line{Type: bridge.TypePartial, Role: bridge.Output, Text: text}
}
func result(text string) bridge.Line { return bridge.Line{Type: bridge.TypeResult, Text: text} }
func failure(text string) bridge.Line {
	return bridge.Line{Type: bridge.TypeError, Text: text}
}

func (c lineCase) session(id string) lineCase { c.want.SessionID = id; return c }
func (c lineCase) warns(reasons ...bridge.Reason) lineCase {
	c.want.Warnings = reasons
	return c
}

func eventLines() []lineCase {
	return []lineCase{
		{rule: "partial brings text", line: `{"type":"partial","text":"hello"}`, want: partial("hello")},
		{rule: "partial text may have lines", line: `{"type":"partial","text":"a\nb"}`, want: partial("a\nb")},
		{rule: "partial text is Unicode", line: `{"type":"partial","text":"你好 🚀 \u00e9"}`, want: partial("你好 🚀 é")},
		{rule: "partial text may be empty", line: `{"type":"partial","text":""}`, want: partial("")},
		{rule: "missing partial text is empty", line: `{"type":"partial"}`, want: partial("")},
		{rule: "numeric partial text is empty", line: `{"type":"partial","text":42}`, want: partial("")},
		{rule: "null partial text is empty", line: `{"type":"partial","text":null}`, want: partial("")},
		{rule: "object partial text is empty", line: `{"type":"partial","text":{"a":"b"}}`, want: partial("")},
		{rule: "role output", line: `{"type":"partial","text":"x","role":"output"}`, want: partial("x")},
		{rule: "role thinking", line: `{"type":"partial","text":"x","role":"thinking"}`,
			want: bridge.Line{Type: bridge.TypePartial, Role: bridge.Thinking, Text: "x"}},
		{rule: "unknown role is passed on", line: `{"type":"partial","text":"x","role":"aside"}`,
			want: bridge.Line{Type: bridge.TypePartial, Role: "aside", Text: "x"}},
		{rule: "role that is no text is output", line: `{"type":"partial","text":"x","role":42}`, want: partial("x")},
		lineCase{rule: "usage on a partial is ignored", line: `{"type":"partial","text":"x","usage":{"input_tokens":1}}`,
			want: partial("x")}.warns(bridge.ReasonUsageOnPartial),
		{rule: "unknown keys are ignored", line: `{"type":"partial","text":"x","colour":"red"}`, want: partial("x")},
		{rule: "spaces around are fine", line: " {\t\"type\" : \"partial\" , \"text\" : \"x\" } \r", want: partial("x")},
		{rule: "the last of repeated keys counts", line: `{"type":"result","type":"partial","text":"a","text":"b"}`, want: partial("b")},
		{rule: "key names are exact", line: `{"type":"partial","Text":"x","TEXT":"y"}`, want: partial("")},
		{rule: "result brings text", line: `{"type":"result","text":"done"}`, want: result("done")},
		{rule: "result text may be empty", line: `{"type":"result","text":""}`, want: result("")},
		{rule: "missing result text is empty", line: `{"type":"result"}`, want: result("")},
		{rule: "boolean result text is empty", line: `{"type":"result","text":true}`, want: result("")},
		{rule: "role on a result means nothing", line: `{"type":"result","text":"x","role":"thinking"}`, want: result("x")},
		{rule: "usage on a result is kept as written", line: `{"type":"result","usage":{"cost_usd":1.0,"x":1e400}}`,
			want: bridge.Line{Type: bridge.TypeResult, Usage: []byte(`{"cost_usd":1.0,"x":1e400}`)}},
		lineCase{rule: "usage that is no object is ignored", line: `{"type":"result","text":"x","usage":[1]}`,
			want: result("x")}.warns(bridge.ReasonUsage),
		{rule: "error brings its message", line: `{"type":"error","message":"rate limited"}`, want: failure("rate limited")},
		{rule: "error message may be empty", line: `{"type":"error","message":""}`, want: failure("")},
		{rule: "missing error message is empty", line: `{"type":"error"}`, want: failure("")},
		{rule: "boolean error message is empty", line: `{"type":"error","message":true}`, want: failure("")},
		{rule: "error does not read text", line: `{"type":"error","text":"x"}`, want: failure("")},
		{rule: "usage on an error is kept", line: `{"type":"error","message":"x","usage":{}}`,
			want: bridge.Line{Type: bridge.TypeError, Text: "x", Usage: []byte(`{}`)}},
	}
}

func sessionLines() []lineCase {
	return []lineCase{
		lineCase{rule: "session id on a partial", line: `{"type":"partial","text":"x","session_id":"s-1"}`, want: partial("x")}.session("s-1"),
		lineCase{rule: "session id on a result", line: `{"type":"result","session_id":"s-1"}`, want: result("")}.session("s-1"),
		lineCase{rule: "session id on an error", line: `{"type":"error","session_id":"s-1"}`, want: failure("")}.session("s-1"),
		lineCase{rule: "session id with colons and spaces", line: `{"type":"result","session_id":"org: a b"}`, want: result("")}.session("org: a b"),
		lineCase{rule: "session id with dots inside", line: `{"type":"result","session_id":"..a"}`, want: result("")}.session("..a"),
		{rule: "empty session id is none", line: `{"type":"result","session_id":""}`, want: result("")},
		{rule: "null session id is none", line: `{"type":"result","session_id":null}`, want: result("")},
		lineCase{rule: "session id with a slash", line: `{"type":"result","session_id":"a/b"}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "session id with a backslash", line: `{"type":"result","session_id":"a\\b"}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "session id with a line end", line: `{"type":"result","session_id":"a\nb"}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "session id with NUL", line: `{"type":"result","session_id":"a\u0000"}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "session id dot", line: `{"type":"result","session_id":"."}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "session id dot dot", line: `{"type":"result","session_id":".."}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "numeric session id", line: `{"type":"result","session_id":7}`, want: result("")}.warns(bridge.ReasonSessionID),
		lineCase{rule: "endless session id", line: `{"type":"result","session_id":"` + strings.Repeat("x", 1025) + `"}`,
			want: result("")}.warns(bridge.ReasonSessionID),
	}
}

// deep is an object that nests n levels.
func deep(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }

func requestLines() []lineCase {
	long := strings.Repeat("x", 256)
	request := func(r bridge.PermissionRequest) bridge.Line {
		return bridge.Line{Type: bridge.TypePermissionRequest, Request: r}
	}
	return []lineCase{
		{rule: "request with empty input", line: `{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{}}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "Bash", Input: []byte(`{}`)})},
		{rule: "request with all keys",
			line: `{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"a":1.0},"description":"d","tool_use_id":"t"}`,
			want: request(bridge.PermissionRequest{
				RequestID: "1", ToolName: "Bash", Input: []byte(`{"a":1.0}`), Description: "d", ToolUseID: "t"})},
		{rule: "request without a tool can be denied", line: `{"type":"permission_request","request_id":"1","input":{}}`,
			want: request(bridge.PermissionRequest{RequestID: "1", Input: []byte(`{}`), Malformed: true})},
		{rule: "request without input can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"Bash"}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "Bash", Malformed: true})},
		{rule: "request with another input can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":"x"}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "B", Input: []byte(`"x"`), Malformed: true})},
		{rule: "request with a null input can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":null}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "B", Input: []byte(`null`), Malformed: true})},
		{rule: "request with an array as input can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":[]}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "B", Input: []byte(`[]`), Malformed: true})},
		{rule: "request with a tool name that is no text can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":7,"input":{}}`,
			want: request(bridge.PermissionRequest{RequestID: "1", Input: []byte(`{}`), Malformed: true})},
		{rule: "request with an endless tool name can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"` + long + `","input":{}}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: long, Input: []byte(`{}`), Malformed: true})},
		{rule: "request with an input that nests too deep can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":` + deep(29) + `}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "B", Input: []byte(deep(29)), Malformed: true})},
		{rule: "request in a line that nests too deep can be denied", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":` + deep(500) + `}`,
			want: request(bridge.PermissionRequest{RequestID: "1", Malformed: true})},
		{rule: "request with a description that is no text", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":{},"description":{}}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "B", Input: []byte(`{}`)})},
		lineCase{rule: "session id on a request", line: `{"type":"permission_request","request_id":"1","tool_name":"B","input":{},"session_id":"s-1"}`,
			want: request(bridge.PermissionRequest{RequestID: "1", ToolName: "B", Input: []byte(`{}`)})}.session("s-1"),
		{rule: "endless request id", line: `{"type":"permission_request","request_id":"` + strings.Repeat("x", 1025) + `","tool_name":"B","input":{}}`,
			ignored: bridge.ReasonBadRequest},
		{rule: "request without id in a line that nests too deep", line: `{"type":"permission_request","tool_name":"B","input":` + deep(500) + `}`,
			ignored: bridge.ReasonTooDeep},
		{rule: "request without id", line: `{"type":"permission_request","tool_name":"Bash","input":{}}`, ignored: bridge.ReasonBadRequest},
		{rule: "request id with a space", line: `{"type":"permission_request","request_id":"a b","tool_name":"B","input":{}}`,
			ignored: bridge.ReasonBadRequest},
		{rule: "request id with a control character", line: `{"type":"permission_request","request_id":"a\u0007","tool_name":"B","input":{}}`,
			ignored: bridge.ReasonBadRequest},
		{rule: "numeric request id", line: `{"type":"permission_request","request_id":1,"tool_name":"B","input":{}}`,
			ignored: bridge.ReasonBadRequest},
	}
}

func ignoredLines() []lineCase {
	return []lineCase{
		{rule: "plain text", line: `hello world`, ignored: bridge.ReasonNotJSON},
		{rule: "nothing", line: ``, ignored: bridge.ReasonNotJSON},
		{rule: "cut JSON", line: `{"type":"partial","text":"x`, ignored: bridge.ReasonNotJSON},
		{rule: "two objects in one line", line: `{"type":"partial"}{"type":"partial"}`, ignored: bridge.ReasonNotJSON},
		{rule: "byte order mark", line: "\ufeff" + `{"type":"partial"}`, ignored: bridge.ReasonNotJSON},
		{rule: "a number", line: `42`, ignored: bridge.ReasonNotObject},
		{rule: "an array", line: `[{"type":"partial"}]`, ignored: bridge.ReasonNotObject},
		{rule: "null", line: `null`, ignored: bridge.ReasonNotObject},
		{rule: "a string", line: `"partial"`, ignored: bridge.ReasonNotObject},
		{rule: "no type", line: `{"text":"x"}`, ignored: bridge.ReasonNoType},
		{rule: "type that is no text", line: `{"type":1,"text":"x"}`, ignored: bridge.ReasonNoType},
		{rule: "type key in another case", line: `{"Type":"partial","text":"x"}`, ignored: bridge.ReasonNoType},
		{rule: "unknown type", line: `{"type":"tool_call"}`, ignored: bridge.ReasonUnknownType},
		{rule: "type in capitals", line: `{"type":"PARTIAL","text":"x"}`, ignored: bridge.ReasonUnknownType},
		{rule: "type with a space", line: `{"type":"partial ","text":"x"}`, ignored: bridge.ReasonUnknownType},
		{rule: "session of protocol 0.3", line: `{"type":"session","id":"abc"}`, ignored: bridge.ReasonUnknownType},
		{rule: "text of protocol 0.3", line: `{"type":"text","text":"x"}`, ignored: bridge.ReasonUnknownType},
		{rule: "turn goes the other way", line: `{"type":"turn","message":"x"}`, ignored: bridge.ReasonUnknownType},
		{rule: "permission_response goes the other way", line: `{"type":"permission_response","request_id":"1"}`, ignored: bridge.ReasonUnknownType},
		{rule: "nested beyond reason", line: `{"type":"partial","x":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`,
			ignored: bridge.ReasonTooDeep},
	}
}

func TestLinesAreClassifiedByTheRules(t *testing.T) {
	for _, cases := range [][]lineCase{eventLines(), sessionLines(), requestLines(), ignoredLines()} {
		for _, c := range cases {
			t.Run(c.rule, func(t *testing.T) {
				got, err := bridge.ParseLine([]byte(c.line))
				var ignored *bridge.IgnoredError
				switch {
				case c.ignored != "" && (!errors.As(err, &ignored) || ignored.Reason != c.ignored):
					t.Errorf("got %+v, %v; want it ignored as %s", got, err, c.ignored)
				case c.ignored == "" && err != nil:
					t.Errorf("ignored: %v", err)
				case c.ignored == "" && !reflect.DeepEqual(got, c.want):
					t.Errorf("got  %+v\nwant %+v", got, c.want)
				}
			})
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, cases := range [][]lineCase{eventLines(), sessionLines(), requestLines(), ignoredLines()} {
		for _, c := range cases {
			f.Add([]byte(c.line))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		line, err := bridge.ParseLine(data)
		var ignored *bridge.IgnoredError
		if err != nil && (!errors.As(err, &ignored) || ignored.Reason == "") {
			t.Fatalf("error without a reason: %v", err)
		}
		if strings.ContainsAny(line.SessionID, "/\\\n\x00") {
			t.Fatalf("session id %q", line.SessionID)
		}
		if line.Type == bridge.TypePermissionRequest && line.Request.RequestID == "" {
			t.Fatal("a request without an id")
		}
		state := bridge.NewTurnState(bridge.Profile{Streaming: true, Permission: true})
		state.StepBytes(data)
		if outcome := state.Finish(bridge.Exit{}); outcome.OK() == state.Failed() {
			t.Fatalf("failed %v but outcome %+v", state.Failed(), outcome)
		}
	})
}
