package omni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// call is a tool call of the run at hand that has no output yet.
type call struct {
	ID      string `json:"id"`   // in the log
	Name    string `json:"name"` // its tool_call_id in the stream
	Denied  bool   `json:"denied,omitempty"`
	Request int    `json:"request"` // in which the model made it
}

// asked is what a permission is asked for: mostly a call, which may not have begun.
type asked struct {
	Request id.Request     `json:"request"`
	Agent   event.SubAgent `json:"agent,omitempty"`
	Call    string         `json:"call,omitempty"` // "" if it is about none
	Tool    string         `json:"tool,omitempty"`
	Input   string         `json:"input,omitempty"`
	Person  bool           `json:"person,omitempty"` // a person is to answer
}

// mostNames is how many tool_call_ids a session remembers, to give each call one of its own.
const mostNames = 1024

// callOf finds a call of a run and its session: that of who, or any other that has such a call.
func (s *State) callOf(t *thread, who event.SubAgent, id string) (*session, *call) {
	return t.calls(s.main(t), s.in(t, who), id)
}

func (in *session) find(call string) *call {
	for _, c := range in.Calls {
		if c.ID == call {
			return c
		}
	}
	return nil
}

// nameFor is a tool_call_id that no call of the session has: one that is there twice gets a number (facts 1.4).
func (in *session) nameFor(call string) string {
	name := call
	for n := 2; slices.Contains(in.Names, name); n++ {
		name = fmt.Sprintf("%s#%d", call, n)
	}
	return name
}

func (s *State) toolStarted(f Fact) {
	p, ok := read[event.ToolStartedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	in := s.in(t, p.AgentID)
	if in.find(p.ToolCallID) != nil {
		return
	}
	s.close(in, "")
	s.requestBegins(in)
	arguments := string(p.Arguments)
	if p.ArgumentsBlob != nil && f.blob(p.ArgumentsBlob) != "" {
		arguments = f.blob(p.ArgumentsBlob)
	}
	c := &call{ID: p.ToolCallID, Name: in.nameFor(p.ToolCallID), Request: in.Request.Number}
	if !s.tell(in, omni.ToolCall(c.Name, p.ToolName, arguments)) {
		return
	}
	in.Calls, in.Names = append(in.Calls, c), append(in.Names, c.Name)
	in.Names = slices.Delete(in.Names, 0, max(0, len(in.Names)-mostNames))
	if decision, known := t.Decided[p.ToolCallID]; known {
		delete(t.Decided, p.ToolCallID)
		s.decide(in, c, decision)
	}
}

func (s *State) toolCompleted(f Fact) {
	p, ok := read[event.ToolCompletedPayload](f)
	if !ok {
		return
	}
	output := text(p.Result)
	if p.ResultBlob != nil {
		output = f.blob(p.ResultBlob)
	}
	s.returned(s.of(f.Run), p.AgentID, p.ToolCallID, output, "")
}

func (s *State) toolFailed(f Fact) {
	p, ok := read[event.ToolFailedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	reason := omni.Failed
	switch {
	case p.Error.Code == fault.Timeout:
		reason = omni.Timeout
	case p.Error.Code == fault.Cancelled, p.Error.Code == fault.RunEnded && t.Cancelling:
		reason = omni.Aborted
	}
	s.returned(t, p.AgentID, p.ToolCallID, p.Error.Message, reason)
}

// returned says the output of a call. That the model's request is over is known when the first of its calls has one, unless it speaks on.
func (s *State) returned(t *thread, who event.SubAgent, id, output string, reason omni.StopReason) {
	in, c := s.callOf(t, who, id)
	if c == nil {
		return
	}
	if in.Open == nil && !in.Request.Stated && c.Request == in.Request.Number {
		s.requestEnds(in, end{stop: omni.Completed})
	}
	s.answer(in, c, output, reason)
}

func (s *State) answer(in *session, c *call, output string, reason omni.StopReason) {
	in.Calls = slices.DeleteFunc(in.Calls, func(other *call) bool { return other == c })
	if c.Denied {
		reason = omni.Aborted
	}
	p := omni.ToolCallOutput(c.Name, output)
	p.StopReason = reason
	if !s.tell(in, p) {
		p.Output = ""
		s.tell(in, p)
	}
}

func (s *State) promptRequested(f Fact) {
	p, ok := read[event.PromptRequestedPayload](f)
	if !ok || p.Kind != event.PromptPermission {
		return
	}
	t := s.of(f.Run)
	t.forget(p.RequestID)
	input := string(p.Input)
	if p.InputBlob != nil && f.blob(p.InputBlob) != "" {
		input = f.blob(p.InputBlob)
	}
	t.Asked = append(t.Asked, asked{p.RequestID, p.AgentID, p.ToolCallID, p.ToolName, input, p.Asks == event.Person})
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
		decision := omni.Deny
		if p.Decision == event.Allow {
			decision = omni.Allow
		}
		s.decided(f, p.RequestID, decision)
	}
}

func (s *State) promptExpired(f Fact) {
	if p, ok := read[event.PromptExpiredPayload](f); ok {
		s.decided(f, p.RequestID, omni.Deny)
	}
}

// decided says a decision, or keeps it for a call that has not begun.
func (s *State) decided(f Fact, request id.Request, decision omni.Decision) {
	t := s.of(f.Run)
	a, known := t.forget(request)
	if !known || a.Call == "" {
		return
	}
	if in, c := s.callOf(t, a.Agent, a.Call); c != nil {
		s.decide(in, c, decision)
		return
	}
	if t.Decided == nil {
		t.Decided = map[string]omni.Decision{}
	}
	t.Decided[a.Call] = decision
}

func (s *State) decide(in *session, c *call, decision omni.Decision) {
	c.Denied = decision != omni.Allow
	s.tell(in, omni.ApprovalDecision(c.Name, decision))
}

// text is a JSON value as a model reads it: a string as it is, else compact JSON; nothing for null.
func text(value json.RawMessage) string {
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	var said string
	if json.Unmarshal(value, &said) == nil {
		return said
	}
	var short bytes.Buffer
	if json.Compact(&short, value) != nil {
		return string(value)
	}
	return short.String()
}
