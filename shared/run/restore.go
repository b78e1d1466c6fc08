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
	case event.MessageStarted, event.MessageDelta, event.Thinking, event.MessageDone:
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
		Delta       string         `json:"delta"`
		Content     string         `json:"content"`
		ContentBlob *event.BlobRef `json:"content_blob"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	switch t {
	case event.MessageDone:
		if p.Content != "" || p.ContentBlob != nil {
			n.spoken = true
			n.final = p.MessageID
		}
		n.open = ""
		n.text.Reset()
	case event.MessageDelta:
		n.open = p.MessageID
		n.write(p.Delta)
	default:
		n.open = p.MessageID
	}
	return nil
}

func (n *Normaliser) observeTool(t event.Type, payload json.RawMessage) error {
	var p struct {
		ToolCallID string `json:"tool_call_id"`
		ToolName   string `json:"tool_name"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	if t == event.ToolStarted {
		n.tools.start(p.ToolCallID, p.ToolName)
		return nil
	}
	n.tools.end(p.ToolCallID)
	return nil
}
