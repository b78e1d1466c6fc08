package runtime

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// outlet is where an agent's events leave the edge's hands: redacted, in order. Text is a stream per channel and block; the end of one
// releases what was held back, so nothing overtakes it.
type outlet struct {
	secrets *redact.Redactor
	to      func(run.AgentEvent) error
	failed  bool // to has refused; the rest is thrown away

	open run.Delta // channel and block of the stream
	text *redact.Stream
}

func newOutlet(secrets *redact.Redactor, to func(run.AgentEvent) error) *outlet {
	return &outlet{secrets: secrets, to: to}
}

func (o *outlet) emit(e run.AgentEvent) {
	delta, ok := e.(run.Delta)
	if !ok {
		o.flush()
		o.send(o.redacted(e))
		return
	}
	if o.text == nil || o.open.Channel != delta.Channel || o.open.Block != delta.Block {
		o.flush()
		o.open, o.text = run.Delta{Channel: delta.Channel, Block: delta.Block}, o.secrets.Stream()
	}
	o.say(o.text.Push(delta.Text))
}

// flush ends the stream of text.
func (o *outlet) flush() {
	if o.text != nil {
		o.say(o.text.Flush())
		o.text = nil
	}
}

func (o *outlet) say(text string) {
	if text != "" {
		o.send(run.Delta{Channel: o.open.Channel, Block: o.open.Block, Text: text})
	}
}

func (o *outlet) send(e run.AgentEvent) {
	if !o.failed && o.to(e) != nil {
		o.failed = true
	}
}

// redacted returns e without secrets in anything that an agent can choose.
func (o *outlet) redacted(e run.AgentEvent) run.AgentEvent {
	if o.secrets.Idle() {
		return e
	}
	clean := o.secrets.String
	switch e := e.(type) {
	case run.StateChange:
		return run.StateChange{State: clean(e.State)}
	case run.ToolCall:
		return run.ToolCall{ID: clean(e.ID), Name: clean(e.Name), Args: o.secrets.JSON(e.Args)}
	case run.ToolResult:
		result := run.ToolResult{ID: clean(e.ID), Name: clean(e.Name), Result: o.secrets.JSON(e.Result)}
		if e.Error != nil {
			failure := o.redactedError(*e.Error)
			result.Error = &failure
		}
		return result
	case run.Artifact:
		e.Filename = clean(e.Filename)
		return e
	case run.Decided:
		e.UpdatedInput = o.secrets.JSON(e.UpdatedInput) // what was asked is redacted already: its digest is of what is shown
		return e
	case run.Done:
		return run.Done{Answer: clean(e.Answer)}
	case run.Failure:
		return run.Failure{ErrorObj: o.redactedError(e.ErrorObj)}
	case run.Fact:
		return run.Fact{Type: e.Type, Payload: o.redactedPayload(e.Payload)}
	}
	return e
}

func (o *outlet) redactedError(e event.ErrorObj) event.ErrorObj {
	e.Message = o.secrets.String(e.Message)
	return e
}

// redactedPayload drops a payload that cannot be read: it cannot be redacted either.
func (o *outlet) redactedPayload(payload any) any {
	if payload == nil {
		return nil
	}
	encoded, err := event.Encode(payload)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return o.secrets.JSON(encoded)
}
