package runtime

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// opening is a request on its way into the log.
type opening struct {
	asked    event.PromptRequestedPayload
	answered *event.PromptAnsweredPayload // nil if a person has to answer
}

// open decides who answers a request.
func (d *desk) open(a Ask) (opening, error) {
	asked, err := d.show(a)
	if err != nil {
		return opening{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return opening{}, errMoot
	}
	if r, ok := d.rules.judge(asked); ok {
		return decided(asked, event.PromptAnsweredPayload{
			Decision: r.decision, By: event.Policy, Policy: r.policy, Reason: r.reason, UpdatedInput: r.updated, Response: r.response,
		}), nil
	}
	if d.waiting() >= maxOpen {
		reason := fmt.Sprintf("%d requests of this turn wait for an answer already.", maxOpen)
		return decided(asked, event.PromptAnsweredPayload{Decision: no(a.Kind), By: event.Bridge, Reason: reason}), nil
	}
	asked.Asks = event.Person
	d.prompts = append(d.prompts, &prompt{request: asked.RequestID, kind: a.Kind, ask: a.ID, digest: asked.Digest})
	return opening{asked: asked}, nil
}

// show makes the prompt of a request. What it shows has no secrets in it, and the digest is of what it shows.
func (d *desk) show(a Ask) (event.PromptRequestedPayload, error) {
	clean := d.secrets.String
	p := event.PromptRequestedPayload{
		RequestID: id.NewRequest(), Kind: event.PromptPermission, Description: clean(a.Description), ToolCallID: clean(a.ToolCall),
		AgentRequestID: clean(a.ID), TimeoutMS: a.TimeoutMS, AgentID: event.SubAgent(clean(string(a.Agent))),
	}
	var err error
	if a.Kind == event.PromptClientTool {
		p.Kind = a.Kind
	}
	if a.Kind != "" && a.Kind != event.PromptClientTool {
		p.Kind, p.Inner = a.Kind, d.secrets.JSON(a.Inner)
		p.Digest, err = event.InnerDigest(p.Kind, p.Inner)
	} else {
		p.ToolName, p.Input = clean(a.Tool), d.secrets.JSON(a.Input)
		p.Digest, err = event.PromptDigest(p.ToolName, p.Input)
	}
	if err != nil {
		return p, fmt.Errorf("show request: %w", err)
	}
	return p, nil
}

// openCall puts a call before a client: no rule decides about it, and no person is asked. Errors are faults for the agent.
func (d *desk) openCall(a Ask) (event.PromptRequestedPayload, error) {
	asked, err := d.show(a)
	if err != nil {
		return asked, fault.Wrap(err, fault.InvalidInput, "What the tool is called with cannot be read.")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return asked, fault.New(fault.TooLate, "The agent has ended its turn: nobody waits for this call.")
	case d.calling() >= MaxCalls:
		return asked, fault.New(fault.TooManyCalls, "%d calls of this run wait for clients already.", MaxCalls)
	}
	asked.Asks = event.Client
	d.prompts = append(d.prompts, &prompt{request: asked.RequestID, kind: a.Kind, ask: a.ID, digest: asked.Digest, call: &a})
	return asked, nil
}

// calling counts the calls that have not ended. Callers hold mu.
func (d *desk) calling() int {
	n := 0
	for _, p := range d.prompts {
		if p.call != nil && p.stage < sent {
			n++
		}
	}
	return n
}

// waiting counts the prompts that no person has answered. Callers hold mu.
func (d *desk) waiting() int {
	n := 0
	for _, p := range d.prompts {
		if p.stage == waiting && p.call == nil {
			n++
		}
	}
	return n
}

func decided(asked event.PromptRequestedPayload, answer event.PromptAnsweredPayload) opening {
	asked.Asks, answer.RequestID, answer.Kind = event.Policy, asked.RequestID, asked.Kind.Named()
	return opening{asked: asked, answered: &answer}
}
