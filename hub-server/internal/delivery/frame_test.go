package delivery

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// received is a frame as a client reads it.
type received struct {
	Type    string          `json:"type"`
	Seq     uint64          `json:"seq_id"`
	Payload json.RawMessage `json:"payload"`
	Cursor  string          `json:"cursor"`
}

func receive(t interface{ Fatalf(string, ...any) }, f Frame, seq uint64) received {
	var r received
	raw := f.Append(nil, seq)
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("frame is not JSON: %v\n%s", err, raw)
	}
	if len(raw) > f.Size() {
		t.Fatalf("frame has %d bytes, Size says at most %d", len(raw), f.Size())
	}
	return r
}

func TestFrameKeepsPayloadBytesAndTakesAnyNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		seq := rapid.Uint64().Draw(t, "seq")
		payload, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		got := receive(t, NewFrame(Body{"message.new", payload}, NewCursor(testEpoch, 7)), seq)
		if got.Type != "message.new" || got.Seq != seq || string(got.Payload) != string(payload) || got.Cursor != string(NewCursor(testEpoch, 7)) {
			t.Errorf("frame came out as %+v", got)
		}
	})
}

func TestOnlyTheLastFrameOfARowCarriesItsCursor(t *testing.T) {
	tail := newTestTail(newMemoryOutbox(), inline{})
	bodies := []Body{{"agent.stream", []byte(`{}`)}, {"agent.stream", []byte(`{}`)}, {"agent.done", []byte(`{}`)}}
	frames := tail.encodeAll(Row{Position: 9}, bodies)
	for i, f := range frames {
		cursor := receive(t, f, 1).Cursor
		if last := i == len(frames)-1; last != (cursor != "") {
			t.Errorf("frame %d of %d has cursor %q", i+1, len(frames), cursor)
		}
	}
}

func TestStrangersGetTheirOwnVariant(t *testing.T) {
	owner, stranger := id.NewUser(), id.NewUser()
	tail := newTestTail(newMemoryOutbox(), inline{})
	frames := tail.encode(Row{Position: 1}, Expansion{
		Bodies: []Body{{"agent.stream", []byte(`{"d":"/home"}`)}}, Owner: owner, Others: []Body{{"agent.stream", []byte(`{}`)}},
	})
	if got := receive(t, frames.of(owner)[0], 1); string(got.Payload) != `{"d":"/home"}` {
		t.Errorf("the owner sees %s", got.Payload)
	}
	if got := receive(t, frames.of(stranger)[0], 1); string(got.Payload) != `{}` || got.Cursor == "" {
		t.Errorf("a stranger sees %s with cursor %q", got.Payload, got.Cursor)
	}
}
