package screen

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const inputWidth = 300 // runes: whoever allows something must have seen it

// Question says in one line what an agent asks, given the payload of its request.
func Question(payload json.RawMessage) string {
	p, ok := read[event.PromptRequestedPayload](payload)
	if !ok {
		return Line(string(payload), inputWidth)
	}
	return question(p)
}

func question(p event.PromptRequestedPayload) string {
	text := "use " + Line(p.ToolName, argumentWidth) + ": "
	if p.InputBlob != nil {
		return text + "an input of " + Size(p.InputBlob.Size) + ", too large to show"
	}
	return text + Line(string(p.Input), inputWidth)
}

// prompt tells what is asked and answered.
func (n *Narrator) prompt(p client.AgentStreamPayload, s *story, t event.Type, raw json.RawMessage) {
	who := n.name(s.agent)
	switch t {
	case event.PromptRequested:
		asked, ok := read[event.PromptRequestedPayload](raw)
		if !ok || asked.Asks != event.Person {
			return
		}
		n.of(s.session, who+n.style.Yellow(" asks to ")+question(asked)+
			n.style.Dim(" — answer with: yard answer "+Line(string(asked.RequestID), maxInTable)+" allow|deny"))
		if asked.Description != "" {
			n.of(s.session, n.style.Dim("  "+Line(asked.Description, inputWidth)))
		}
	case event.PromptAnswered:
		if answered, ok := read[event.PromptAnsweredPayload](raw); ok {
			n.of(s.session, n.decision(answered)+n.style.Dim(" "+Line(string(answered.RequestID), maxInTable)))
		}
	case event.RunProcessEnded:
		n.of(s.session, who+n.style.Yellow(" … "+stopped(raw)+" and goes on when it is answered"))
		return
	default:
		return
	}
	n.speaker = p.TaskID
}

// stopped says what ended a process that had asked.
func stopped(raw json.RawMessage) string {
	ended, _ := read[event.ProcessEndedPayload](raw)
	switch ended.Reason {
	case event.EndedWithEdge:
		return "was stopped with its edge"
	case event.EndedUnseen:
		return "was lost"
	}
	return "was stopped at its turn limit"
}

// decision says who decided what.
func (n *Narrator) decision(a event.PromptAnsweredPayload) string {
	by := Line(string(a.By), argumentWidth)
	switch a.By {
	case event.Person:
		by = n.name(client.MemberID(a.UserID))
	case event.Policy:
		by = "policy " + Line(a.Policy, argumentWidth)
	}
	text := n.style.Green("✓ allowed")
	if a.Decision == event.Deny {
		text = n.style.Red("✗ denied")
	}
	text += " by " + by
	if len(a.UpdatedInput) > 0 {
		text += " with " + Line(string(a.UpdatedInput), inputWidth)
	}
	if a.Reason != "" {
		text += ": " + Line(a.Reason, inputWidth)
	}
	return text
}
