package formtest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Said is an event of a run, the Place-th of its conversation.
type Said struct {
	Place   int64
	At      time.Time
	Run     id.Run
	Type    event.Type
	Payload json.RawMessage
}

// Conversation is n events of runs as they usually are, one after the other: text in pieces, some calls with signs of life, and an end. It is what
// projections are measured with.
func Conversation(tb testing.TB, n int) []Said {
	tb.Helper()
	at := time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)
	said := make([]Said, 0, n)
	for turn := 1; len(said) < n; turn++ {
		add := func(t event.Type, payload any) {
			at = at.Add(50 * time.Millisecond)
			raw, err := event.Encode(payload)
			if err != nil {
				tb.Fatal(err)
			}
			said = append(said, Said{int64(len(said) + 1), at, id.Run(fmt.Sprintf("run_%016x", turn)), t, raw})
		}
		add(event.RunStarted, event.RunStartedPayload{StartedAt: at})
		message, text := id.Message(fmt.Sprintf("msg_01890000-0000-7000-8000-%012x", turn)), ""
		add(event.MessageStarted, event.MessageStartedPayload{MessageID: message, Role: "assistant"})
		for i := range 100 {
			piece := fmt.Sprintf("A few words, the %dth time, and <more>. ", i)
			text += piece
			add(event.MessageDelta, event.DeltaPayload{MessageID: message, Delta: piece})
			if i%10 == 5 {
				call := fmt.Sprintf("toolu_%d_%d", turn, i)
				add(event.ToolStarted, event.ToolStartedPayload{ToolCallID: call, ToolName: "Bash", Arguments: json.RawMessage(`{"command":"ls -la"}`)})
				add(event.StatusChange, event.StatusChangePayload{Stage: "running", ToolCallID: call, UptimeMS: 5000})
				add(event.ToolCompleted, event.ToolCompletedPayload{ToolCallID: call, Result: json.RawMessage(`"total 0"`)})
			}
		}
		add(event.MessageDone, event.MessageCompletedPayload{MessageID: message, Content: text})
		add(event.RunCompleted, event.RunCompletedPayload{MessageID: message})
	}
	return said[:n]
}
