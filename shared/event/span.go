package event

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// What a span's id is derived from, beside the id of what it spans.
const (
	rootSpan = "run-root-span"
	toolSpan = "span:tool"
)

// SpanOf returns the id of the span that an event of a run belongs to: the tool call's for its start and its end, else the run's own. It
// follows from the run and the payload alone, so an edge and the hub, before and after a restart, name the same one.
func SpanOf(run id.Run, t Type, payload json.RawMessage) string {
	if call := toolCallOf(t, payload); call != "" {
		return spanID(toolSpan, string(run)+":"+call)
	}
	return spanID(rootSpan, string(run))
}

// toolCallOf returns "" for an event of no tool call, and for one whose payload does not name it: it was too large for a row.
func toolCallOf(t Type, payload json.RawMessage) string {
	switch t {
	case ToolStarted, ToolCompleted, ToolFailed:
	default:
		return ""
	}
	var named struct {
		ToolCallID string   `json:"tool_call_id"`
		AgentID    SubAgent `json:"agent_id"`
	}
	if json.Unmarshal(payload, &named) != nil {
		return ""
	}
	if named.AgentID != "" && named.ToolCallID != "" { // two agents of a run may use the same id
		return string(named.AgentID) + "/" + named.ToolCallID
	}
	return named.ToolCallID
}

func spanID(of, what string) string {
	sum := sha256.Sum256([]byte("v1:" + of + ":" + what))
	return hex.EncodeToString(sum[:spanDigits/2])
}
