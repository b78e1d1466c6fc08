package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// deals are what an agent does in the conversation "past", as cards.
var deals = map[string]func(card.Builder) []card.Event{
	"whole": func(b card.Builder) []card.Event {
		turn := card.Ref{ID: "turn_1", Kind: card.Turn}
		first, second := card.Ref{ID: "msg_1", Kind: card.Message, Parent: turn.ID}, card.Ref{ID: "msg_2", Kind: card.Message, Parent: turn.ID}
		tool := card.Ref{ID: "toolu_1", Kind: card.Tool, Parent: first.ID}
		took := func(ms int64, inner any) card.End {
			return card.End{Status: card.OK, Metrics: &card.Metrics{DurationMS: ms}, Inner: inner}
		}
		return []card.Event{
			b.Add(turn, card.TurnPayload{TurnNo: 1}, &card.Hint{Summary: "List files"}),
			b.Add(first, card.MessagePayload{Role: "assistant"}, nil),
			b.Append(first, card.TextChannel, 0, "Let me"), b.Append(first, card.TextChannel, 0, " check:"),
			b.Close(first, took(200, nil)),
			b.Add(tool, card.ToolPayload{Name: "bash", Input: json.RawMessage(`{"command":"ls -la"}`), Phase: card.Executing}, nil),
			b.Close(tool, took(100, card.ToolPayload{Output: "total 0"})),
			b.Add(second, card.MessagePayload{Role: "assistant"}, nil),
			b.Append(second, card.TextChannel, 0, "Here are the files."),
			b.Close(second, took(200, nil)),
			b.Close(turn, took(1000, nil)),
		}
	},
	"asking": func(b card.Builder) []card.Event {
		return []card.Event{
			b.Add(card.Ref{ID: "turn_2", Kind: card.Turn}, card.TurnPayload{TurnNo: 2}, nil),
			b.Add(card.Ref{ID: "toolu_2", Kind: card.Tool, Parent: "turn_2"}, card.ToolPayload{Name: "bash", Phase: card.PermissionWait}, nil),
			b.PromptUser(card.PromptPayload{RequestID: "req_1", Kind: "permission", Inner: json.RawMessage(`{"tool_name":"bash","tool_input":"rm -r a","options":[]}`)}),
		}
	},
	"answered": func(b card.Builder) []card.Event {
		return []card.Event{b.PromptReply(card.ReplyPayload{RequestID: "req_1", Decision: card.Approved})}
	},
	"calling": func(b card.Builder) []card.Event {
		turn := card.Ref{ID: "turn_9", Kind: card.Turn}
		call := func(id, tool string) card.Event {
			return b.Add(card.Ref{ID: id, Kind: card.Tool, Parent: turn.ID},
				card.ToolPayload{Name: tool, Target: "client", Input: json.RawMessage(`{"path":"a b"}`), Phase: card.Executing}, nil)
		}
		return []card.Event{b.Add(turn, card.TurnPayload{TurnNo: 9}, nil), call("toolu_8", "show"), call("toolu_9", "fail"), call("toolu_7", "elsewhere")}
	},
	"later":     turns(3),
	"forgotten": turns(4),
}

// offered are the tools that a client has declared last.
func offered(h *testhub.Hub) (names []string) {
	h.Change(func() {
		for _, tool := range h.Tools {
			names = append(names, tool.Name)
		}
	})
	return names
}

// turns are a turn in which nothing happens.
func turns(n int) func(card.Builder) []card.Event {
	return func(b card.Builder) []card.Event {
		turn := card.Ref{ID: fmt.Sprintf("turn_%d", n), Kind: card.Turn}
		return []card.Event{b.Add(turn, card.TurnPayload{TurnNo: n}, nil), b.Close(turn, card.End{Status: card.OK})}
	}
}

// deal tells cards. They are of the future: what is open has lasted no time.
func deal(ts *testscript.TestScript, h *testhub.Hub, what string) {
	fn := deals[what]
	if fn == nil {
		ts.Fatalf("there is nothing to deal that is called %q", what)
	}
	var session client.SessionID
	h.Change(func() { session = h.Tasks[0].SessionID })
	h.Deal(session, time.Now().Add(time.Hour), fn)
}

// shows waits until a file has a line that matches.
func shows(ts *testscript.TestScript, file, pattern string) {
	line := regexp.MustCompile(`(?m)` + pattern)
	wait(ts, func() bool {
		text, err := os.ReadFile(ts.MkAbs(file))
		return err == nil && line.Match(text)
	})
}
