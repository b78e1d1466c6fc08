package screen

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// prompt tells what is asked and answered.
func (n *Narrator) prompt(p client.AgentStreamPayload, s *story, t event.Type, raw json.RawMessage) {
	who := n.name(s.agent)
	switch t {
	case event.PromptRequested:
		request, ok := read[event.PromptRequestedPayload](raw)
		if !ok || request.Asks != event.Person {
			return
		}
		question := ask(request)
		n.of(s.session, who+n.style.Yellow(" asks to ")+question.line()+
			n.style.Dim(" — answer with: yard answer "+Line(string(request.RequestID), maxInTable)+" "+question.ways()))
		if request.Description != "" {
			n.of(s.session, n.style.Dim("  "+Line(request.Description, inputWidth)))
		}
	case event.PromptAnswered:
		if answered, ok := read[event.PromptAnsweredPayload](raw); ok {
			n.of(s.session, n.decision(answered)+n.style.Dim(" "+Line(string(answered.RequestID), maxInTable)))
		}
	case event.PromptExpired:
		if expired, ok := read[event.PromptExpiredPayload](raw); ok {
			n.of(s.session, n.style.Red("✗ nobody answered in time")+n.style.Dim(" "+Line(string(expired.RequestID), maxInTable)))
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
	text := n.verdict(a) + " by " + by
	for _, with := range []json.RawMessage{a.UpdatedInput, a.Response} {
		if len(with) > 0 {
			text += " with " + Line(string(with), inputWidth)
		}
	}
	if a.Reason != "" {
		text += ": " + Line(a.Reason, inputWidth)
	}
	return text
}

func (n *Narrator) verdict(a event.PromptAnsweredPayload) string {
	switch {
	case a.Decision == event.Deny:
		return n.style.Red("✗ denied")
	case a.Decision != event.Allow:
		return n.style.Green("✓ decided: " + Line(string(a.Decision), argumentWidth))
	case a.Kind == event.PromptPermission.Named():
		return n.style.Green("✓ allowed")
	}
	return n.style.Green("✓ answered")
}
