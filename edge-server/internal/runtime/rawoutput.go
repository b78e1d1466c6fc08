package runtime

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Bounds of run.output.batch: what an agent prints beside its protocol is kept to understand it, not to mirror it.
const (
	maxRawLine  = 4 << 10  // bytes of one line
	maxRawBatch = 32 << 10 // bytes of one event, before JSON
	maxRawLines = 64       // lines of one event
	maxRawTotal = 1 << 20  // bytes of stdout per run, give or take a line; the rest is only counted
)

const (
	stdout = "stdout"
	stderr = "stderr"
)

// rawOutput gathers lines of stdout that are no events into run.output.batch.
type rawOutput struct {
	lines   []string
	size    int // bytes in lines
	total   int // bytes taken so far
	dropped int // lines not taken
}

// add returns a batch when one is full.
func (r *rawOutput) add(l process.Line) []run.AgentEvent {
	if r.total >= maxRawTotal {
		r.dropped++
		return nil
	}
	line := l.Clip(maxRawLine)
	r.total += len(line)
	r.lines = append(r.lines, line)
	if r.size += len(line); r.size < maxRawBatch && len(r.lines) < maxRawLines {
		return nil
	}
	return r.flush()
}

// flush returns what is gathered, if anything.
func (r *rawOutput) flush() []run.AgentEvent {
	if r.dropped > 0 {
		r.lines = append(r.lines, fmt.Sprintf("…[%d lines dropped]", r.dropped))
	}
	if len(r.lines) == 0 {
		return nil
	}
	batch := batchOf(stdout, r.lines)
	r.lines, r.size, r.dropped = nil, 0, 0
	return []run.AgentEvent{batch}
}

// stderrOutput cuts the end of stderr into batches.
func stderrOutput(text string, cut int64) []run.AgentEvent {
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return nil
	}
	var events []run.AgentEvent
	var lines []string
	if cut > 0 {
		lines = append(lines, strings.TrimSpace(process.CutMarker(cut)))
	}
	size := 0
	for line := range strings.Lines(text) {
		line = clip(strings.TrimRight(line, "\r\n"))
		if len(lines) == maxRawLines || size+len(line) > maxRawBatch {
			events = append(events, batchOf(stderr, lines))
			lines, size = nil, 0
		}
		lines = append(lines, line)
		size += len(line)
	}
	return append(events, batchOf(stderr, lines))
}

func batchOf(stream string, lines []string) run.Fact {
	return run.Fact{Type: event.RunOutputBatch, Payload: event.OutputBatchPayload{Stream: stream, Lines: lines}}
}

// clip keeps the beginning of a long line, and its marker if it was cut before.
func clip(line string) string {
	if len(line) <= maxRawLine {
		return line
	}
	end := maxRawLine
	for end > maxRawLine-utf8.UTFMax && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + process.CutMarker(int64(len(line)-end))
}
