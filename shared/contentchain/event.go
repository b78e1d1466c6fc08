package contentchain

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// OpenBlob returns the bytes of a value that was too large for its row.
type OpenBlob func(event.BlobRef) ([]byte, error)

// Event continues the chain by one event of a run's log, in the order of the log. Events that are no content change nothing. open is called
// for arguments in a blob only; it may be nil where there are none.
func (c *Chain) Event(t event.Type, payload json.RawMessage, open OpenBlob) error {
	if err := c.event(t, payload, open); err != nil {
		return fmt.Errorf("chain %s: %w", t, err)
	}
	return nil
}

func (c *Chain) event(t event.Type, payload json.RawMessage, open OpenBlob) error {
	switch t {
	case event.MessageDelta:
		return decoded(payload, func(p event.DeltaPayload) error { c.Text(p.Delta); return nil })
	case event.Thinking:
		return decoded(payload, func(p event.DeltaPayload) error { c.Thought(p.Delta); return nil })
	case event.ToolStarted:
		return decoded(payload, func(p event.ToolStartedPayload) error { return c.started(p, open) })
	case event.ToolCompleted:
		return decoded(payload, func(p event.ToolCompletedPayload) error { c.ResultChecksum(p.ResultChecksum); return nil })
	case event.ToolFailed:
		return decoded(payload, func(p event.ToolFailedPayload) error { c.Failure(string(p.Error.Code), p.Error.Message); return nil })
	case event.ArtifactCreated:
		return decoded(payload, func(p event.ArtifactCreatedPayload) error { c.Artifact(p.Checksum); return nil })
	}
	return nil
}

func (c *Chain) started(p event.ToolStartedPayload, open OpenBlob) error {
	if p.ArgumentsBlob == nil {
		return c.Call(p.ToolName, p.Arguments)
	}
	if open == nil {
		return fmt.Errorf("the arguments of %s are in a blob", p.ToolCallID)
	}
	args, err := open(*p.ArgumentsBlob)
	if err != nil {
		return err
	}
	return c.Call(p.ToolName, args)
}

func decoded[P any](payload json.RawMessage, then func(P) error) error {
	var p P
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	return then(p)
}

// Reported reads the Head out of the payload of a session_metrics fact; false if it holds none.
func Reported(payload json.RawMessage) (Head, bool) {
	var h Head
	if err := json.Unmarshal(payload, &h); err != nil || h.ContentChain == "" {
		return Head{}, false
	}
	return h, true
}
