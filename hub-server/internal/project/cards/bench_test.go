package cards_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// longConversation is n events of turns as they usually are: text in pieces, some calls with signs of life, and an end.
func longConversation(tb testing.TB, n int) []cards.Fact {
	tb.Helper()
	at := time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)
	facts := make([]cards.Fact, 0, n)
	for turn := 1; len(facts) < n; turn++ {
		r := cards.Run{ID: id.Run(fmt.Sprintf("run_%016x", turn)), Agent: "scout", Trigger: "msg_0", Asked: "Look into it."}
		add := func(t event.Type, payload any) {
			at = at.Add(50 * time.Millisecond)
			raw, err := event.Encode(payload)
			if err != nil {
				tb.Fatal(err)
			}
			facts = append(facts, cards.Fact{Place: int64(len(facts) + 1), At: at, Recorded: at, Run: r, Event: t, Payload: raw})
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

// BenchmarkFold is what an event costs when many are projected at a time.
func BenchmarkFold(b *testing.B) {
	facts := longConversation(b, 10_000)
	b.ReportAllocs()
	var bytes int
	for b.Loop() {
		s := cards.New(trace, session, card.English)
		for _, f := range facts {
			for _, frame := range s.Apply(f) {
				bytes += len(frame.Bytes)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(facts))/1000, "µs/event")
	b.ReportMetric(float64(bytes)/float64(b.N)/float64(len(facts)), "B/event")
}

// BenchmarkLive is what an event costs when each is projected as it comes, with the checkpoint that is stored with it.
func BenchmarkLive(b *testing.B) {
	facts := longConversation(b, 10_000)
	b.ReportAllocs()
	var size int
	for b.Loop() {
		s := cards.New(trace, session, card.English)
		for _, f := range facts {
			s.Apply(f)
			size = len(s.Encode())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(facts))/1000, "µs/event")
	b.ReportMetric(float64(size), "B/state")
}

// BenchmarkFromACheckpoint is what a hub pays that takes a trace over: a page of one event.
func BenchmarkFromACheckpoint(b *testing.B) {
	facts := longConversation(b, 10_000)
	s, _ := fold(facts[:9_950])
	state := s.Encode()
	b.ReportAllocs()
	for b.Loop() {
		restored, err := cards.Restore(state)
		if err != nil {
			b.Fatal(err)
		}
		restored.Apply(facts[9_950])
		restored.Encode()
	}
}
