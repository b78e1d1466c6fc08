package agentline

import (
	"cmp"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Piece is a piece of text that a fact brings: of the reasoning, or of the arguments or the output of a tool call.
type Piece struct {
	Text    string
	Call    string         // the agent's own id of the call; "" if it gave none
	Tool    string         // the tool's name; "" if it gave none
	AgentID event.SubAgent // as the line or its payload says
}

// Streamed says whether the line is a fact that brings text.
func (l Line) Streamed() bool {
	return event.Type(l.Type) == event.Thinking || event.Type(l.Type) == event.ToolInput || event.Type(l.Type) == event.ToolOutput
}

// Piece returns what a line brings that is Streamed; false for any other, and for one whose payload has another shape.
func (l Line) Piece() (Piece, bool) {
	var p struct {
		Delta       string         `json:"delta"`
		PartialJSON string         `json:"partial_json"`
		ToolCallID  string         `json:"tool_call_id"`
		ToolName    string         `json:"tool_name"`
		AgentID     event.SubAgent `json:"agent_id"`
	}
	if !l.Streamed() || json.Unmarshal(l.Payload, &p) != nil {
		return Piece{}, false
	}
	piece := Piece{Text: p.Delta, AgentID: cmp.Or(l.AgentID, p.AgentID)}
	switch event.Type(l.Type) {
	case event.ToolInput:
		piece.Text, piece.Call, piece.Tool = p.PartialJSON, p.ToolCallID, p.ToolName
	case event.ToolOutput:
		piece.Call = p.ToolCallID
	}
	return piece, true
}
