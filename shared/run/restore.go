package run

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Restore returns a Normaliser in the state that it had after the given rows of one run, in their order. The rows may end anywhere, also
// between two events of one Step.
func Restore(opts Options, rows []event.Envelope) (*Normaliser, error) {
	n := New(opts)
	for _, row := range rows {
		if err := n.Observe(event.Stored(row.Type, row.Payload), row.Payload); err != nil {
			return nil, fmt.Errorf("restore from row %d: %w", row.Seq, err)
		}
	}
	return n, nil
}

// Observe moves n as if it had returned the given event itself. It is for rebuilding a Normaliser from a stored log, one event at a time;
// unknown types change nothing.
func (n *Normaliser) Observe(t event.Type, payload json.RawMessage) error {
	if n.ended {
		return nil
	}
	switch t {
	case event.MessageStarted, event.MessageDelta, event.Thinking, event.ToolInput, event.MessageDone:
		return n.observeMessage(t, payload)
	case event.ToolStarted, event.ToolCompleted, event.ToolFailed:
		return n.observeTool(t, payload)
	case event.PromptRequested, event.PromptDelivered:
		return n.observePrompt(t, payload)
	case event.RunProcessEnded:
		n.observeEnd(payload)
	}
	n.ended = t.Terminal()
	n.gone = n.gone || n.ended
	return nil
}

func (n *Normaliser) observeMessage(t event.Type, payload json.RawMessage) error {
	var p struct {
		MessageID   id.Message     `json:"message_id"`
		AgentID     event.SubAgent `json:"agent_id"`
		Delta       string         `json:"delta"`
		Content     string         `json:"content"`
		ContentBlob *event.BlobRef `json:"content_blob"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	if p.MessageID == "" { // reasoning that stands by itself
		return nil
	}
	s := n.scope(p.AgentID)
	switch t {
	case event.MessageDone:
		if s.agent == "" && (p.Content != "" || p.ContentBlob != nil) {
			n.spoken = true
			n.final = p.MessageID
		}
		n.finish(s)
	case event.MessageDelta:
		n.begin(s, p.MessageID)
		n.write(s, p.Delta)
	default:
		n.begin(s, p.MessageID)
	}
	return nil
}

func (n *Normaliser) observeTool(t event.Type, payload json.RawMessage) error {
	var p struct {
		ToolCallID string           `json:"tool_call_id"`
		ToolName   string           `json:"tool_name"`
		AgentID    event.SubAgent   `json:"agent_id"`
		Target     event.ToolTarget `json:"target"`
		Arguments  json.RawMessage  `json:"arguments"`
		Elsewhere  *event.BlobRef   `json:"arguments_blob"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	if t == event.ToolStarted {
		c := call{p.AgentID, p.ToolCallID}
		n.tools.start(c, p.ToolName, p.Arguments, p.Target)
		if p.Elsewhere != nil {
			delete(n.tools.wants, c) // what it was called with is not in the log
		}
		return nil
	}
	n.tools.end(call{p.AgentID, p.ToolCallID})
	return nil
}
