package omni_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// longConversation is n events of runs as they usually are: text in pieces, some calls with signs of life, and an end.
func longConversation(tb testing.TB, n int) []omnifold.Fact {
	tb.Helper()
	at := time.Date(2026, 7, 18, 7, 30, 0, 0, time.UTC)
	facts := make([]omnifold.Fact, 0, n)
	for turn := 1; len(facts) < n; turn++ {
		r := omnifold.Run{ID: id.Run(fmt.Sprintf("run_%016x", turn))}
		add := func(t event.Type, payload any) {
			at = at.Add(50 * time.Millisecond)
			raw, err := event.Encode(payload)
			if err != nil {
				tb.Fatal(err)
			}
			facts = append(facts, omnifold.Fact{Place: int64(len(facts) + 1), At: at, Run: r, Event: t, Payload: raw})
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
	return facts[:n]
}

// BenchmarkFold is what an event costs when many are folded at a time.
func BenchmarkFold(b *testing.B) {
	facts := longConversation(b, 10_000)
	b.ReportAllocs()
	var bytes int
	for b.Loop() {
		s := omnifold.New("session-00000000-0000-7000-8000-000000000001")
		for _, f := range facts {
			for _, m := range s.Apply(f) {
				bytes += len(m.Bytes())
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(facts))/1000, "µs/event")
	b.ReportMetric(float64(bytes)/float64(b.N)/float64(len(facts)), "B/event")
}
