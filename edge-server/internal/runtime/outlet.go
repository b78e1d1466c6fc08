package runtime

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// outlet is where an agent's events leave the edge's hands: redacted, in order. Only the last bytes of a text may be overtaken, while they look
// like the beginning of a secret; the end of the turn releases them.
type outlet struct {
	secrets *redact.Redactor
	to      func(run.AgentEvent) error
	failed  bool // to has refused; the rest is thrown away
	speech  speech
}

func newOutlet(secrets *redact.Redactor, to func(run.AgentEvent) error) *outlet {
	o := &outlet{secrets: secrets, to: to}
	o.speech = speech{secrets: secrets, say: func(d run.Delta) { o.send(d) }}
	return o
}

func (o *outlet) emit(e run.AgentEvent) {
	switch e := e.(type) {
	case run.Delta:
		o.speech.add(o.named(e))
		return
	case run.Fact:
		if agent, ended := run.EndOf(e); ended {
			o.speech.endOf(o.agent(agent))
		}
	case run.Done, run.Failure:
		o.flush()
	}
	o.send(o.redacted(e))
}

// flush ends the text of the turn.
func (o *outlet) flush() { o.speech.end() }

func (o *outlet) send(e run.AgentEvent) {
	if !o.failed && o.to(e) != nil {
		o.failed = true
	}
}

// named returns d without secrets in what is no text.
func (o *outlet) named(d run.Delta) run.Delta {
	d.Agent, d.Call, d.Tool, d.Fidelity = o.agent(d.Agent), o.secrets.String(d.Call), o.secrets.String(d.Tool), o.fidelity(d.Fidelity)
	return d
}

// fidelity drops one that has a secret in it: its provider takes it as it was or not at all (R18).
func (o *outlet) fidelity(f event.Fidelity) event.Fidelity {
	given := string(f.Fidelity)
	if given == "" || o.secrets.String(given) == given && string(o.secrets.JSON(json.RawMessage(given))) == given {
		return f
	}
	return event.Fidelity{FidelityDropped: event.FidelityHadSecret}
}

func (o *outlet) agent(a event.SubAgent) event.SubAgent {
	return run.ScopeID(event.SubAgent(o.secrets.String(string(a))))
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
		return run.ToolCall{
			ID: clean(e.ID), Name: clean(e.Name), Args: o.secrets.JSON(e.Args), Intent: clean(e.Intent), Agent: o.agent(e.Agent), Target: e.Target,
			Fidelity: o.fidelity(e.Fidelity),
		}
	case run.ToolResult:
		result := run.ToolResult{
			ID: clean(e.ID), Name: clean(e.Name), Result: o.secrets.JSON(e.Result), Metadata: o.secrets.JSON(e.Metadata), Agent: o.agent(e.Agent),
			Target: e.Target,
		}
		for _, url := range e.Images {
			result.Images = append(result.Images, clean(url)) // one that had a secret is no image any more
		}
		if e.Error != nil {
			failure := o.redactedError(*e.Error)
			result.Error = &failure
		}
		return result
	case run.Artifact:
		e.Filename, e.ContentType = clean(e.Filename), clean(e.ContentType)
		e.Description, e.Role, e.ToolCallID, e.AgentID = clean(e.Description), clean(e.Role), clean(e.ToolCallID), o.agent(e.AgentID)
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

// outcome returns outcome as the log may have it: it stands in for the failure among events if the log has refused that.
func (o *outlet) outcome(events []run.AgentEvent, outcome run.Outcome) run.Outcome {
	for _, e := range events {
		if failure, ok := e.(run.Failure); ok {
			return run.Failed(o.redactedError(failure.ErrorObj))
		}
	}
	return outcome
}

func (o *outlet) redactedError(e event.ErrorObj) event.ErrorObj {
	e.Code, e.Message = fault.Code(o.secrets.String(string(e.Code))), o.secrets.String(e.Message)
	e.Type, e.UserMessage = o.secrets.String(e.Type), o.secrets.String(e.UserMessage)
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
