package omni

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// asked is what a permission is asked for: mostly a call, which may not have begun.
type asked struct {
	Request id.Request     `json:"request"`
	Agent   event.SubAgent `json:"agent,omitempty"`
	Call    string         `json:"call,omitempty"` // "" if it is about none
	Tool    string         `json:"tool,omitempty"`
	Input   string         `json:"input,omitempty"`
	Cut     bool           `json:"cut,omitempty"`    // the input is not here
	Person  bool           `json:"person,omitempty"` // a person is to answer
}

// decided is a decision about a call that has not begun. Other sub-agents may have calls of the same id.
type decided struct {
	Agent  event.SubAgent `json:"agent,omitempty"`
	Call   string         `json:"call"`
	Denied string         `json:"denied,omitempty"` // who said no, "" for yes
}

// Bounds of what is remembered of permissions.
const (
	maxInput    = 64 << 10 // of a larger input the question has it, where it is kept once
	mostAsked   = 256      // of a run; of more, those are forgotten that no person is to answer. A run may ask people 64 things at once
	mostDecided = 256      // of a run; of more, the oldest are forgotten
)

func (s *State) promptRequested(f Fact) {
	p, ok := read[event.PromptRequestedPayload](f)
	if !ok || p.Kind != event.PromptPermission {
		return
	}
	t := s.of(f.Run)
	t.forget(p.RequestID)
	a := asked{Request: p.RequestID, Agent: p.AgentID, Call: p.ToolCallID, Tool: p.ToolName, Input: string(p.Input), Person: p.Asks == event.Person}
	if p.InputBlob != nil {
		a.Input = f.blob(p.InputBlob)
		a.Cut = a.Input == ""
	}
	if len(a.Input) > maxInput {
		a.Input, a.Cut = "", true
	}
	t.Asked = append(t.Asked, a)
	if rule := slices.IndexFunc(t.Asked, func(a asked) bool { return !a.Person }); len(t.Asked) > mostAsked && rule >= 0 {
		t.Asked = slices.Delete(t.Asked, rule, rule+1)
	}
}

// forget returns what a request has asked for, which is not open any more.
func (t *thread) forget(request id.Request) (a asked, known bool) {
	i := slices.IndexFunc(t.Asked, func(a asked) bool { return a.Request == request })
	if i < 0 {
		return a, false
	}
	a = t.Asked[i]
	t.Asked = slices.Delete(t.Asked, i, i+1)
	return a, true
}

func (s *State) promptAnswered(f Fact) {
	if p, ok := read[event.PromptAnsweredPayload](f); ok {
		s.decided(f, p.RequestID, denial(p))
	}
}

func (s *State) promptExpired(f Fact) {
	if p, ok := read[event.PromptExpiredPayload](f); ok {
		s.decided(f, p.RequestID, event.NobodyAnswered)
	}
}

// denial says who said no, and why as far as that was said; "" for yes.
func denial(p event.PromptAnsweredPayload) string {
	switch {
	case p.Decision == event.Allow:
		return ""
	case p.By == event.Policy, p.By == event.Bridge:
		return strings.TrimSuffix(event.DeniedByRule+" "+p.Reason, " ")
	}
	return strings.TrimSuffix(event.DeniedByPerson+" "+p.Reason, " ")
}

// decided says a decision, or keeps it for a call that has not begun. denied is who said no, "" for yes.
func (s *State) decided(f Fact, request id.Request, denied string) {
	t := s.of(f.Run)
	a, known := t.forget(request)
	if !known || a.Call == "" {
		return
	}
	if in, c := s.callOf(t, a.Agent, a.Call); c != nil {
		s.decide(in, c, denied)
		s.release(t, in, c)
		return
	}
	t.Decided = append(t.Decided, decided{a.Agent, a.Call, denied})
	t.Decided = slices.Delete(t.Decided, 0, max(0, len(t.Decided)-mostDecided))
}

// takeDecision returns what was decided of a call of an agent before it began; false if nothing was.
func (t *thread) takeDecision(who event.SubAgent, call string) (denied string, known bool) {
	i := slices.IndexFunc(t.Decided, func(d decided) bool { return d.Agent == who && d.Call == call })
	if i < 0 {
		return "", false
	}
	denied = t.Decided[i].Denied
	t.Decided = slices.Delete(t.Decided, i, i+1)
	return denied, true
}

func (s *State) decide(in *session, c *call, denied string) {
	decision := omni.Allow
	if c.Denied = denied; denied != "" {
		decision = omni.Deny
	}
	s.tell(in, omni.ApprovalDecision(c.Name, decision))
}
