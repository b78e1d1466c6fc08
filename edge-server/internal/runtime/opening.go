package runtime

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
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
	if a.Kind != "" {
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

// waiting counts the prompts that nobody has answered. Callers hold mu.
func (d *desk) waiting() int {
	n := 0
	for _, p := range d.prompts {
		if p.stage == waiting {
			n++
		}
	}
	return n
}

func decided(asked event.PromptRequestedPayload, answer event.PromptAnsweredPayload) opening {
	asked.Asks, answer.RequestID, answer.Kind = event.Policy, asked.RequestID, asked.Kind.Named()
	return opening{asked: asked, answered: &answer}
}
