package conformance

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// shown is what an agent has shown of its calls: their arguments before they are made, and what they put out before they return.
type shown struct{ written, put map[toolCall]string }

func newShown() shown { return shown{map[toolCall]string{}, map[toolCall]string{}} }

// hear takes pieces, and holds what they are pieces of to them.
func (s shown) hear(l *ledger, line agentline.Line) {
	s.fidelity(l, line)
	if piece, ok := line.Piece(); ok && piece.Call != "" {
		of := toolCall{agent: run.ScopeID(piece.AgentID), id: piece.Call}
		switch event.Type(line.Type) {
		case event.ToolInput:
			if _, begun := s.written[of]; begun || piece.Tool != "" {
				s.written[of] += piece.Text
			}
		case event.ToolOutput:
			s.put[of] += piece.Text
		}
		return
	}
	of := toolCall{agent: run.ScopeID(line.AgentID), id: line.ToolCallID}
	switch line.Type {
	case agentline.ToolCall:
		if written, ok := s.written[of]; ok {
			l.check(callWritten, sameJSON(written, line.ToolArgs), "%.80q was written as %.120s and made as %.120s", line.ToolCallID, written, orNothing(line.ToolArgs))
		}
		delete(s.written, of)
	case agentline.ToolResult:
		if put, ok := s.put[of]; ok && line.Error == nil {
			l.check(outputShown, strings.HasPrefix(textOf(line.ToolResult), put), "%.80q put out %.120q and returned %.120s", line.ToolCallID, put, orNothing(line.ToolResult))
		}
		delete(s.put, of)
	}
}

func (s shown) fidelity(l *ledger, line agentline.Line) {
	if line.Fidelity == "" {
		return
	}
	kept := event.NewFidelity(json.RawMessage(line.Fidelity))
	l.check(fidelityFits, kept.FidelityDropped == "", "fidelity of a %s is %s", line.Type, kept.FidelityDropped)
	l.check(fidelityFits, line.Type == agentline.ToolCall || line.Last, "fidelity stands on a %s that ends nothing", line.Type)
}

func sameJSON(written string, made json.RawMessage) bool {
	a, errA := event.Checksum([]byte(written))
	b, errB := event.Checksum(made)
	return errA == nil && errB == nil && a == b
}

// textOf is a result as a reader of its pieces has it.
func textOf(result json.RawMessage) string {
	if said, ok := event.Text(result); ok {
		return said
	}
	var short bytes.Buffer
	if json.Compact(&short, result) != nil {
		return ""
	}
	return short.String()
}
