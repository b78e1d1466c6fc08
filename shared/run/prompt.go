package run

import "github.com/switchyard-dev/switchyard/shared/event"

// prompt lets the steps of a prompt through. They open nothing that a terminal would have to close: a prompt that is open when its run ends is
// settled by that end.
func (n *Normaliser) prompt(e AgentEvent) []Candidate {
	switch e := e.(type) {
	case Asked:
		return n.asked(e)
	case Decided:
		p := e.PromptAnsweredPayload
		p.Reason = clean(p.Reason, maxText)
		return n.emit(Candidate{event.PromptAnswered, p})
	case Delivered:
		return n.emit(Candidate{event.PromptDelivered, e.PromptDeliveredPayload})
	}
	return nil
}

// asked bounds what only explains the request. Name and input are what the digest covers: they stay as they are.
func (n *Normaliser) asked(a Asked) []Candidate {
	p := a.PromptRequestedPayload
	p.Description, p.ToolCallID = clean(p.Description, maxText), clean(p.ToolCallID, maxName)
	return n.emit(Candidate{event.PromptRequested, p})
}
