package cards

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestAPieceOfTextIsReadAsTheLibraryReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, err := event.Encode(event.DeltaPayload{
			MessageID: id.Message(rapid.String().Draw(t, "message")), ContentIndex: rapid.IntRange(-1, 12).Draw(t, "index"),
			Delta: rapid.String().Draw(t, "delta"), AgentID: event.SubAgent(rapid.SampledFrom([]string{"", "sub", `s"`}).Draw(t, "agent")),
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, payload)
	})
}

// FuzzReadDelta holds the quick way against the library on any JSON.
func FuzzReadDelta(f *testing.F) {
	for _, seed := range []string{
		`{"message_id":"msg_1","content_index":0,"delta":"a\u003c\n"}`, `{"message_id":"msg_1","content_index":01,"delta":""}`,
		`{"message_id":"a","content_index":1,"delta":"x","agent_id":"sub"}`, `{"message_id":"a\u0062","content_index":1,"delta":"x"}`,
		`{"message_id":"a","content_index":1,"delta":"x","delta":"y"}`, `{"message_id":"a","content_index":1,"delta":"x" }`,
		`{"message_id":"a","content_index":99999999999999999999,"delta":"x"}`, `{"message_id":"a","content_index":1,"delta":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if json.Valid(payload) && string(payload) == string([]rune(string(payload))) {
			same(t, payload)
		}
	})
}

type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// same holds the quick way against the library where it takes the payload at all.
func same(t fatal, payload []byte) {
	t.Helper()
	quick, ok := quickDelta(payload)
	if !ok {
		return
	}
	var want event.DeltaPayload
	if err := json.Unmarshal(payload, &want); err != nil || quick != want {
		t.Fatalf("%s: read %+v, the library %+v, %v", payload, quick, want, err)
	}
}
