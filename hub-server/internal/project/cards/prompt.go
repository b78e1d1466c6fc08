package cards

import (
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// asked is a question that waits for a person, or a call that waits for a client. While it does, no card of the agent that asks, nor any above it, is late.
type asked struct {
	request id.Request
	scope   *scope
	tool    *node // that waits for permission, or for a client; nil for none
	client  bool
}

// promptRequested shows what a person is asked, or a client is to carry out. What a policy answers nobody is asked.
func (s *State) promptRequested(f Fact) {
	p, ok := read[event.PromptRequestedPayload](f)
	if !ok {
		return
	}
	switch {
	case p.Asks == event.Client && p.Kind == event.PromptClientTool:
		s.clientCalled(f, p)
	case p.Asks == event.Person:
		s.personAsked(f, p)
	}
}

func (s *State) personAsked(f Fact, p event.PromptRequestedPayload) {
	t := s.of(f.Run)
	a := &asked{request: p.RequestID, scope: s.in(t, p.AgentID)}
	s.flush(a.scope.message)
	if n := t.find(card.Tool, p.ToolCallID); n != nil && n.open && (p.Kind == event.PromptPermission || p.Kind == "") {
		a.tool = n
		s.set(n, card.ToolPayload{Phase: card.PermissionWait})
	}
	t.prompts = append(t.prompts, a)
	kind := p.Kind
	if kind == "" {
		kind = event.PromptPermission
	}
	s.tell(s.builder(a.scope, t).PromptUser(card.PromptPayload{
		RequestID: string(p.RequestID), Kind: string(kind), Inner: s.inner(p), TimeoutMS: p.TimeoutMS,
	}))
	s.out[len(s.out)-1].Request = p.RequestID
	s.renew(a.scope.tip())
}

// inner is what is asked: of a permission in S0's words, of the other kinds as it is stored.
func (s *State) inner(p event.PromptRequestedPayload) json.RawMessage {
	if len(p.Inner) > 0 {
		return p.Inner
	}
	ask := card.Permission{ToolName: p.ToolName, ToolInput: shown(p.Input), Message: p.Description, Options: []card.PermissionOption{
		{Label: s.words("允许一次", "Allow once"), Scope: "once", Allow: true},
		{Label: s.words("拒绝", "Deny"), Scope: "once"},
	}}
	if p.InputBlob != nil {
		ask.ToolInput = ""
		ask.Message = orElse(ask.Message, s.words("输入太大，无法在此显示", "The input is too large to be shown here"))
	}
	inner, err := event.Encode(ask)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return inner
}

// shown is a tool's input as one text: of an object with a single text, such as a command, that text, else compact JSON.
func shown(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil && len(fields) == 1 {
		for _, only := range fields {
			var line string
			if json.Unmarshal(only, &line) == nil {
				return line
			}
		}
	}
	return text(input)
}

func (s *State) promptAnswered(f Fact) {
	p, ok := read[event.PromptAnsweredPayload](f)
	if !ok {
		return
	}
	reply := card.ReplyPayload{RequestID: string(p.RequestID), Decision: card.Approved, Reason: p.Reason}
	switch p.Decision {
	case event.Deny:
		reply.Decision = card.Denied
	case event.GiveUp:
		reply.Decision = card.ReplyCancelled
	case event.NoAnswer:
		reply.Decision = card.TimedOut
	case event.GoOn, event.TryAgain: // the word itself tells the two apart (R27)
		reply.Reason = string(p.Decision)
	}
	s.settled(f, p.RequestID, reply)
}

func (s *State) promptExpired(f Fact) {
	p, ok := read[event.PromptExpiredPayload](f)
	if !ok {
		return
	}
	s.settled(f, p.RequestID, card.ReplyPayload{RequestID: string(p.RequestID), Decision: card.TimedOut, Reason: string(p.Reason)})
}

// settled tells what became of a question to a person, and gives all that has waited with it its full time again (facts 0.5).
func (s *State) settled(f Fact, request id.Request, reply card.ReplyPayload) {
	t := s.thread(f.Run.ID)
	if t == nil {
		return
	}
	i := slices.IndexFunc(t.prompts, func(a *asked) bool { return a.request == request })
	if i < 0 {
		return
	}
	a := t.prompts[i]
	t.prompts = slices.Delete(t.prompts, i, i+1)
	if !a.client {
		s.tell(s.builder(a.scope, t).PromptReply(reply))
	}
	if !a.client && a.tool != nil && a.tool.open && reply.Decision == card.Approved {
		s.set(a.tool, card.ToolPayload{Phase: card.Executing})
	}
	for _, n := range t.nodes {
		if n.open && n.scope == a.scope {
			s.renew(n)
		}
	}
	s.renew(a.scope.card)
}

// withdraw tells that nobody waits any more for answers to what a run has asked.
func (s *State) withdraw(t *thread) {
	for _, a := range t.prompts {
		if a.client {
			continue
		}
		s.tell(s.builder(a.scope, t).PromptReply(card.ReplyPayload{RequestID: string(a.request), Decision: card.ReplyCancelled}))
	}
	t.prompts = nil
}
