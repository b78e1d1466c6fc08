package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// prompt lets the steps of a prompt through. They open nothing that a terminal would have to close: a prompt that is open when its run ends is
// settled by that end.
func (n *Normaliser) prompt(e AgentEvent) []Candidate {
	switch e := e.(type) {
	case Asked:
		return n.ask(e)
	case Decided:
		p := e.PromptAnsweredPayload
		p.Reason = clean(p.Reason, maxText)
		return n.emit(Candidate{event.PromptAnswered, p})
	case Delivered:
		n.heard(e.RequestID)
		return n.emit(Candidate{event.PromptDelivered, e.PromptDeliveredPayload})
	}
	return nil
}

// ask bounds what only explains the request. Name and input are what the digest covers: they stay as they are. The call that a client carries out
// is named as it is in its start.
func (n *Normaliser) ask(a Asked) []Candidate {
	p := a.PromptRequestedPayload
	p.Description, p.ToolCallID = clean(p.Description, maxText), clean(p.ToolCallID, maxName)
	if p.Kind == event.PromptClientTool {
		p.ToolCallID = foreignID(a.ToolCallID)
	}
	p.AgentID = ScopeID(p.AgentID)
	n.pair(&p)
	n.wonder(p)
	return n.emit(Candidate{event.PromptRequested, p})
}

// pair names the call that a permission is about. Of one whose agent named none it is the oldest open call with just that input.
func (n *Normaliser) pair(p *event.PromptRequestedPayload) {
	if p.Kind != event.PromptPermission {
		return
	}
	if c, ok := n.tools.wanting(p.AgentID, p.Digest); ok && p.ToolCallID == "" {
		p.ToolCallID = c.id
	}
	delete(n.tools.wants, call{p.AgentID, p.ToolCallID})
}

func (n *Normaliser) wonder(p event.PromptRequestedPayload) {
	if p.Asks == event.Person {
		n.asked = append(n.asked, p.RequestID)
	}
}

func (n *Normaliser) heard(request id.Request) {
	n.asked = slices.DeleteFunc(n.asked, func(r id.Request) bool { return r == request })
}

func (n *Normaliser) observePrompt(t event.Type, payload json.RawMessage) error {
	var p event.PromptRequestedPayload // the others have a part of its keys
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	if t == event.PromptDelivered {
		n.heard(p.RequestID)
		return nil
	}
	if p.Kind == event.PromptPermission {
		delete(n.tools.wants, call{p.AgentID, p.ToolCallID})
	}
	n.wonder(p)
	return nil
}

// observeEnd takes a reason that cannot be read for the oldest one there is.
func (n *Normaliser) observeEnd(payload json.RawMessage) {
	var p event.ProcessEndedPayload
	json.Unmarshal(payload, &p) //nolint:errcheck // that the process has ended is said by the type
	n.gone, n.why = true, p.Reason
}
