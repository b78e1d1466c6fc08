package run

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Spill replaces the large value of c by a reference if it has more than limit bytes: the text of a message, the arguments or the result
// of a tool, the input that a prompt is about. keep stores the bytes before the row that names them and returns how to find them. Other candidates come back as they are.
func (c Candidate) Spill(limit int, keep func(value []byte) (event.BlobRef, error)) (Candidate, error) {
	large := c.largeValue()
	if len(large) <= limit {
		return c, nil
	}
	ref, err := keep(large)
	if err != nil {
		return c, fmt.Errorf("keep large value of %s: %w", c.Type, err)
	}
	switch p := c.Payload.(type) {
	case event.MessageCompletedPayload:
		p.Content, p.ContentBlob = "", &ref
		c.Payload = p
	case event.ToolStartedPayload:
		p.Arguments, p.ArgumentsBlob = json.RawMessage(`{}`), &ref
		c.Payload = p
	case event.ToolCompletedPayload:
		p.Result, p.ResultBlob = nil, &ref
		c.Payload = p
	case event.PromptRequestedPayload:
		p.Input, p.InputBlob = json.RawMessage(`{}`), &ref
		c.Payload = p
	}
	return c, nil
}

func (c Candidate) largeValue() []byte {
	switch p := c.Payload.(type) {
	case event.MessageCompletedPayload:
		return []byte(p.Content)
	case event.ToolStartedPayload:
		return p.Arguments
	case event.ToolCompletedPayload:
		return p.Result
	case event.PromptRequestedPayload:
		return p.Input
	}
	return nil
}
