package bridge_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// BenchmarkPartialLines reads lines of 100 bytes as the edge does, but for the pipe.
func BenchmarkPartialLines(b *testing.B) {
	line := []byte(`{"type":"partial","text":"the quick brown fox jumps over the lazy dog and then it goes to sleep now"}`)
	if len(line) < 98 || len(line) > 104 {
		b.Fatalf("the line has %d bytes", len(line))
	}
	state := bridge.NewTurnState(bridge.Profile{Streaming: true})
	b.SetBytes(int64(len(line)) + 1)
	b.ReportAllocs()
	for b.Loop() {
		if effects := state.StepBytes(line); len(effects) != 1 {
			b.Fatalf("effects: %v", effects)
		}
	}
}
