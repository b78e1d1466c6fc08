package cards_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form/formtest"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// longConversation is n events of turns as they usually are.
func longConversation(tb testing.TB, n int) (facts []cards.Fact) {
	tb.Helper()
	for _, e := range formtest.Conversation(tb, n) {
		r := cards.Run{ID: e.Run, Agent: "scout", Trigger: "msg_0", Asked: "Look into it."}
		facts = append(facts, cards.Fact{Place: e.Place, At: e.At, Recorded: e.At, Run: r, Event: e.Type, Payload: e.Payload})
	}
	return facts
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
