package omni_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form/formtest"
	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
)

// longConversation is n events of runs as they usually are.
func longConversation(tb testing.TB, n int) (facts []omnifold.Fact) {
	tb.Helper()
	for _, e := range formtest.Conversation(tb, n) {
		facts = append(facts, omnifold.Fact{Place: e.Place, At: e.At, Run: omnifold.Run{ID: e.Run}, Event: e.Type, Payload: e.Payload})
	}
	return facts
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
