package runtime_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// partials is an agent's stdout that holds the same line for ever.
type partials struct {
	line []byte
	at   int
}

func (p *partials) Read(buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		copied := copy(buf[n:], p.line[p.at:])
		n += copied
		p.at = (p.at + copied) % len(p.line)
	}
	return n, nil
}

// BenchmarkPartialLinesOfAnAgent takes lines of 100 bytes apart as the edge does: the reader of lines, the parser, the rules of a turn.
// `make bench` reports lines/s.
func BenchmarkPartialLinesOfAnAgent(b *testing.B) {
	line := `{"type":"partial","text":"the quick brown fox jumps over the lazy dog and then it goes to bed now"}` + "\n"
	if len(line) != 100 {
		b.Fatalf("the line has %d bytes", len(line))
	}
	lines := process.NewLineReader(&partials{line: []byte(line)}, process.MaxLine)
	state := bridge.NewTurnState(bridge.Profile{Streaming: true})
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		next, err := lines.Next()
		if err != nil {
			b.Fatal(err)
		}
		parsed, err := bridge.ParseLine(next.Text)
		if err != nil {
			b.Fatal(err)
		}
		if effects := state.Step(parsed); len(effects) != 1 {
			b.Fatalf("effects: %v", effects)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
