package event

import "encoding/json"

// Names that differ between the log and the wire.
const (
	wireMessageStarted WireType = "item.created"
	wireMessageDelta   WireType = "run.agent.text_delta"
	wireMessageDone    WireType = "run.agent.text_block"
	wireToolStarted    WireType = "run.agent.tool_call"
	wireToolResult     WireType = "run.agent.tool_result"
	wireRunCompleted   WireType = "run.finished"
	wirePromptAsked    WireType = "run.agent.permission_requested"
	wirePromptAnswered WireType = "run.agent.permission_decided"
)

const maxTypeBytes = 96

// WellFormed says whether s can name an event: 1 to 96 of [A-Za-z0-9._-] (S3).
func WellFormed(s string) bool {
	if s == "" || len(s) > maxTypeBytes {
		return false
	}
	for i := range len(s) {
		if !typeByte(s[i]) {
			return false
		}
	}
	return true
}

func typeByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		return true
	}
	return false
}

// Wire returns the name that a stored event has on the edge and hub plane.
func Wire(t Type) WireType {
	switch t {
	case MessageStarted:
		return wireMessageStarted
	case MessageDelta:
		return wireMessageDelta
	case MessageDone:
		return wireMessageDone
	case ToolStarted:
		return wireToolStarted
	case ToolCompleted, ToolFailed:
		return wireToolResult
	case RunCompleted:
		return wireRunCompleted
	case PromptRequested:
		return wirePromptAsked
	case PromptAnswered:
		return wirePromptAnswered
	}
	return WireType(t)
}

// Stored returns the name under which an event of the wire is stored. The payload tells a failed tool result from a completed one: only
// the failed one has an `error`. An unknown name, and a name that is a stored name already, stands for itself.
func Stored(w WireType, payload json.RawMessage) Type {
	switch w {
	case wireMessageStarted:
		return MessageStarted
	case wireMessageDelta:
		return MessageDelta
	case wireMessageDone:
		return MessageDone
	case wireToolStarted:
		return ToolStarted
	case wireToolResult:
		return toolResult(payload)
	case wireRunCompleted:
		return RunCompleted
	case wirePromptAsked:
		return PromptRequested
	case wirePromptAnswered:
		return PromptAnswered
	}
	return Type(w)
}

func toolResult(payload json.RawMessage) Type {
	var p struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(payload, &p) == nil && len(p.Error) > 0 {
		return ToolFailed
	}
	return ToolCompleted
}
