package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// verbatim is an object whose bytes an encoder would change.
const verbatim = "{ \"b\" : 1.0, \"a\":1e400, \"b\":\"<\\u003c\u2028\\/\",\t\"n\":-0 }"

func fidelityExamples(sum string) map[string]any {
	kept := event.NewFidelity(json.RawMessage(verbatim))
	return map[string]any{
		"message.completed.fidelity": event.MessageCompletedPayload{MessageID: "msg_1", Content: "hi", ContentChecksum: sum, Fidelity: kept},
		"message.completed.cut":      event.MessageCompletedPayload{MessageID: "msg_1", Content: "h", ContentChecksum: sum, StopReason: event.RequestAborted},
		"run.agent.thinking.last":    event.DeltaPayload{MessageID: "msg_1", Delta: "", Last: true, Fidelity: kept},
		"run.agent.thinking.dropped": event.DeltaPayload{
			MessageID: "msg_1", Delta: "hm", Last: true, Fidelity: event.Fidelity{FidelityDropped: event.FidelityHadSecret},
		},
		"tool.call.started.fidelity": event.ToolStartedPayload{ToolCallID: "t1", ToolName: "read", Arguments: json.RawMessage(`{}`), Fidelity: kept},
	}
}

func TestFidelityIsWrittenByteForByte(t *testing.T) {
	for name, payload := range fidelityExamples("") {
		encoded, err := event.Encode(payload)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "cut") || strings.HasSuffix(name, "dropped") {
			continue
		}
		var back struct{ Fidelity json.RawMessage }
		if err := json.Unmarshal(encoded, &back); err != nil || string(back.Fidelity) != verbatim {
			t.Errorf("%s: %s, %v", name, encoded, err)
		}
	}
	if _, err := event.Encode(event.DeltaPayload{Fidelity: event.Fidelity{Fidelity: `{`}}); err == nil {
		t.Error("encoded what is no JSON")
	}
}

func TestAFidelityIsKeptWholeOrNotAtAll(t *testing.T) {
	for raw, want := range map[string]event.Fidelity{
		"":                 {},
		" null ":           {},
		" {\"a\": 1.0}\n":  {Fidelity: `{"a": 1.0}`},
		`[1]`:              {FidelityDropped: event.FidelityMalformed},
		`{`:                {FidelityDropped: event.FidelityMalformed},
		"{\"a\":\"\xff\"}": {FidelityDropped: event.FidelityMalformed},
		`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`: {FidelityDropped: event.FidelityMalformed},
		`{"a":"` + strings.Repeat("x", event.MaxFidelity) + `"}`:          {FidelityDropped: event.FidelityTooLarge},
	} {
		got := event.NewFidelity(json.RawMessage(raw))
		if got != want || got.IsZero() != (raw == "" || raw == " null ") {
			t.Errorf("%.40q: %+v", raw, got)
		}
	}
}
