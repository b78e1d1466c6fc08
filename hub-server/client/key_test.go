package client

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestEveryFrameTypeHasARule(t *testing.T) {
	for _, row := range event.Frames() {
		r, ok := ruleOf(HubWebSocketFrameType(row.Type))
		if !ok {
			t.Errorf("%s: no rule", row.Type)
			continue
		}
		if !agrees(row, r) {
			t.Errorf("%s: rule %+v does not do what the table says: %v", row.Type, r, row.Repeat)
		}
	}
	if _, ok := ruleOf("message.edited"); ok {
		t.Error("a type that is no Hub frame has a rule")
	}
}

func agrees(row event.FrameRow, r rule) bool {
	has := func(want event.Repeat) bool {
		for _, repeat := range row.Repeat {
			if repeat == want {
				return true
			}
		}
		return false
	}
	switch r.effect {
	case ignored:
		return has(event.Ephemeral) || row.Type == "device.kicked"
	case whole:
		return row.Type == "auth.ok"
	case forward:
		return has(event.Watermark) && !has(event.Upsert)
	case appended:
		return has(event.Watermark) && has(event.Upsert)
	case once:
		return has(event.Idempotent)
	case put, merge:
		return has(event.Upsert)
	}
	return has(event.Upsert) || has(event.Idempotent)
}

func TestEveryFieldOfAKeyIsRead(t *testing.T) {
	for _, row := range event.Frames() {
		r, _ := ruleOf(HubWebSocketFrameType(row.Type))
		if r.effect == whole {
			continue // a list, which TestScenarios plays
		}
		for _, field := range r.key {
			for _, value := range []string{`"x"`, `"\u0078"`} {
				parts, err := keyFields(json.RawMessage(`{"`+field+`":`+value+`}`), []string{field})
				if err != nil || parts[0] != "x" {
					t.Errorf("%s: its key has %s, which is read as %q: %v", row.Type, field, parts, err)
				}
			}
		}
	}
}

func TestAFrameIsNamedByItsBusinessKey(t *testing.T) {
	for _, c := range []struct{ typ, payload, want string }{
		{"message.new", `{"id":"msg_1","session_id":"sess_1"}`, "message.new msg_1"},
		{"agent.stream", `{"id":"evt_1","task_id":"run_1","event_seq":42}`, "agent.stream run_1/42"},
		{"message.read", `{"session_id":"sess_1","user_id":"user_1","last_read_seq":7}`, "message.read sess_1/user_1/7"},
		{"agent.control", `{"agent_task_id":"run_1","kind":"permission.decide"}`, "agent.control run_1/permission.decide/"},
		{"typing", `{"session_id":"sess_1"}`, ""},
		{"auth.ok", `{"resume":"fresh"}`, ""},
		{"auth.ok", `{"resume":"replayed","online":[]}`, "auth.ok online"},
		{"agent.done", `{}`, ""},
		{"agent.done", `null`, ""},
		{"agent.done", `"run_1"`, ""},
		{"something.new", `{"id":"1"}`, ""},
	} {
		frame := HubWebSocketFrame{Type: HubWebSocketFrameType(c.typ), Payload: []byte(c.payload)}
		if got := Key(frame); got != c.want {
			t.Errorf("Key(%s %s) = %q, want %q", c.typ, c.payload, got, c.want)
		}
	}
}

func FuzzAFrameOfAStrangerIsAppliedOrIgnored(f *testing.F) {
	for _, row := range event.Frames() {
		f.Add(string(row.Type), []byte(`{"id":"1","task_id":"run_1","agent_task_id":"run_1","event_seq":1,"payload":"{}","session_id":"s","message_id":"m","user_id":"u","last_read_seq":1}`))
	}
	f.Add("agent.stream", []byte(`{"task_id":"run_1","event_seq":1e400}`))
	f.Add("auth.ok", []byte(`{"online":[{"user_id":"u","version":2},{"user_id":"u","version":1},{"user_id":7}]}`))
	f.Add("auth.ok", []byte(`{"online":[{}]}`))
	f.Add("agent.stream", []byte(`{"task_id":["x"],"event_seq":-1}`))
	f.Fuzz(func(t *testing.T, typ string, payload []byte) {
		frame := HubWebSocketFrame{Type: HubWebSocketFrameType(typ), Payload: payload}
		r := NewReducer()
		first := r.Apply(frame)
		if (first == Ignored) && r.Len() != 0 {
			t.Fatal("an ignored frame was counted")
		}
		before := r.Digest()
		if second := r.Apply(frame); first == Applied && second != Repeated {
			t.Fatalf("again: %d, want repeated", second)
		}
		if r.Digest() != before {
			t.Fatal("a repeated frame changed the digest")
		}
	})
}
