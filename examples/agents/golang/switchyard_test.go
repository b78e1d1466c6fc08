package switchyard_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	switchyard "github.com/switchyard-dev/switchyard/examples/agents/golang"
)

func read(t *testing.T, stdin string) (*switchyard.Turn, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	turn, err := switchyard.ReadTurn(strings.NewReader(stdin), &out)
	if err != nil {
		t.Fatal(err)
	}
	return turn, &out
}

const asking = `{"type":"turn","message":"hi","session_id":"s","permission":true,"protocol_version":"9.9","later":1}` + "\n"

func TestLinesAreThoseOfTheProtocol(t *testing.T) {
	turn, out := read(t, `{"type":"turn","message":"hi","session_id":"","attachments":[{"kind":"image","url":"data:,x"}],"protocol_version":"0.4"}`)
	if turn.Message != "hi" || len(turn.Attachments) != 1 || turn.Permission {
		t.Errorf("%+v", turn)
	}
	turn.Thinking("hm")
	turn.Session = "s-1"
	turn.Partial("a")
	turn.ResultWithUsage("", map[string]int{"output_tokens": 1})
	turn.Error("no luck")
	want := `{"type":"partial","text":"hm","role":"thinking"}
{"type":"partial","text":"a","session_id":"s-1"}
{"type":"result","text":"","usage":{"output_tokens":1},"session_id":"s-1"}
{"type":"error","message":"no luck","session_id":"s-1"}
`
	if out.String() != want || turn.Err() != nil {
		t.Errorf("got\n%s(%v), want\n%s", out, turn.Err(), want)
	}
}

func TestAnswersAreFoundByTheirRequest(t *testing.T) {
	turn, out := read(t, asking+
		`{"type":"permission_response","request_id":"2","behavior":"allow","updated_input":{"path":"b"},"later":1}`+"\n"+
		`{"type":"later"}`+"\n"+`{"type":"permission_response","request_id":"7","behavior":"allow"}`+"\n"+
		`{"type":"permission_response","request_id":"1","behavior":"deny","message":"not now"}`+"\n")
	got := turn.RequestPermissions(
		switchyard.Request{Tool: "Write", Input: map[string]string{"path": "a"}}, switchyard.Request{Tool: "Delete", Input: struct{}{}, Description: "d"})
	if got[0].Allowed || got[0].Message != "not now" || !got[1].Allowed || string(got[1].Updated) != `{"path":"b"}` {
		t.Errorf("%+v", got)
	}
	want := `{"type":"permission_request","request_id":"1","tool_name":"Write","input":{"path":"a"},"session_id":"s"}
{"type":"permission_request","request_id":"2","tool_name":"Delete","input":{},"description":"d","session_id":"s"}
`
	if out.String() != want {
		t.Errorf("got\n%s", out)
	}
}

func TestWhatNobodyAnswersIsDenied(t *testing.T) {
	turn, _ := read(t, asking+`{"type":"permission_response","request_id":"1","behavior":"allow"}`+"\n")
	got := turn.RequestPermissions(switchyard.Request{Tool: "A", Input: 1}, switchyard.Request{Tool: "B", Input: 1})
	if !got[0].Allowed || got[1].Allowed || got[1].Message != "Nobody answered." {
		t.Errorf("%+v", got)
	}
	turn, out := read(t, `{"type":"turn","message":"hi","session_id":"","protocol_version":"0.4"}`)
	if got := turn.RequestPermission(switchyard.Request{Tool: "A"}); got.Allowed || out.Len() > 0 {
		t.Errorf("without permission: %+v, said %s", got, out)
	}
}

func TestTurnThatCannotBeReadIsAnError(t *testing.T) {
	for _, stdin := range []string{"", "no turn\n"} {
		if _, err := switchyard.ReadTurn(strings.NewReader(stdin), nil); err == nil {
			t.Errorf("%q was read", stdin)
		}
	}
}

// gone is an output that nobody reads.
type gone struct{ writes int }

var errGone = errors.New("gone")

func (g *gone) Write([]byte) (int, error) { g.writes++; return 0, errGone }

func TestFirstErrorOfWritingIsKept(t *testing.T) {
	out := &gone{}
	turn, err := switchyard.ReadTurn(strings.NewReader(asking), out)
	if err != nil {
		t.Fatal(err)
	}
	turn.Partial("a")
	turn.Partial("b")
	if !errors.Is(turn.Err(), errGone) || out.writes != 1 {
		t.Errorf("%v after %d writes", turn.Err(), out.writes)
	}
	turn, _ = read(t, asking)
	turn.ResultWithUsage("", func() {})
	var unsupported *json.UnsupportedTypeError
	if !errors.As(turn.Err(), &unsupported) {
		t.Error(turn.Err())
	}
}
