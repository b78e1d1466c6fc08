package omni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// call is a tool call of the run at hand that has no output yet.
type call struct {
	ID      string `json:"id"`                // in the log
	Name    string `json:"name"`              // its tool_call_id in the stream
	Denied  string `json:"denied,omitempty"`  // by whom, as a sentence; "" for one that was not
	Request int    `json:"request"`           // in which the model made it
	Written string `json:"written,omitempty"` // its arguments, of one that was told as the model wrote it and has not begun

	Begun  *time.Time `json:"begun,omitempty"`  // when its output began to show
	Output string     `json:"output,omitempty"` // as far as it shows
	Full   bool       `json:"full,omitempty"`   // no more of it shows before it returns
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

// rename gives a call a tool_call_id of its own.
func (in *session) rename(call string) string {
	name := in.nameFor(call)
	in.Names = append(in.Names, name)
	in.Names = slices.Delete(in.Names, 0, max(0, len(in.Names)-mostNames))
	return name
}

func (s *State) toolStarted(f Fact) {
	p, ok := read[event.ToolStartedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	in := s.in(t, p.AgentID)
	c := s.called(in, f, p)
	if d, known := t.Decided[p.ToolCallID]; known && c != nil {
		delete(t.Decided, p.ToolCallID)
		s.decide(in, c, d)
	}
}

// called tells a call, unless it was told as the model wrote it. One that was written otherwise than it is made is another: what was written ends
// malformed, and has no effect. It returns nil for one that has begun before.
func (s *State) called(in *session, f Fact, p event.ToolStartedPayload) *call {
	arguments, known := string(p.Arguments), true
	if p.ArgumentsBlob != nil {
		if whole := f.blob(p.ArgumentsBlob); whole != "" {
			arguments = whole
		} else {
			known = false
		}
	}
	if c := in.find(p.ToolCallID); c != nil {
		written := c.Written
		if c.Written = ""; written == "" {
			return nil
		}
		if !known || meant(written, arguments) {
			return c
		}
		s.answer(in, c, returning{reason: omni.Malformed})
	}
	s.close(in, "")
	s.requestBegins(in)
	if w := in.take(p.ToolCallID); w != nil {
		if w.Tool == p.ToolName && (!known || meant(w.Text, arguments)) {
			c := s.complete(in, w, p.Fidelity.Fidelity, "")
			c.Written = ""
			return c
		}
		s.answer(in, s.complete(in, w, "", omni.Malformed), returning{reason: omni.Malformed})
	}
	return s.whole(in, p, arguments)
}

// whole tells a call that has not shown before it was made.
func (s *State) whole(in *session, p event.ToolStartedPayload, arguments string) *call {
	c := &call{ID: p.ToolCallID, Name: in.nameFor(p.ToolCallID), Request: in.Request.Number}
	made := omni.ToolCall(c.Name, p.ToolName, arguments)
	made.Fidelity = raw(p.Fidelity.Fidelity)
	if !s.tell(in, made) {
		return nil
	}
	in.rename(p.ToolCallID)
	in.Calls = append(in.Calls, c)
	return c
}

// raw is an object as a message has it, nil for none.
func raw(o event.Opaque) json.RawMessage {
	if o == "" {
		return nil
	}
	return json.RawMessage(o)
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
	s.returned(s.of(f.Run), p.AgentID, p.ToolCallID, returning{output: output, images: imagesOf(f, p)})
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
	s.returned(t, p.AgentID, p.ToolCallID, returning{output: p.Error.Message, reason: reason})
}

// returned says the output of a call.
func (s *State) returned(t *thread, who event.SubAgent, id string, r returning) {
	in, c := s.callOf(t, who, id)
	if c == nil {
		return
	}
	s.commit(in, c)
	s.answer(in, c, r)
}

// commit ends the request in which a call was made: that it is over is known when the first of its calls puts something out, unless the model
// speaks on.
func (s *State) commit(in *session, c *call) {
	if in.Open == nil && len(in.Written) == 0 && !in.Request.Stated && c.Request == in.Request.Number {
		s.requestEnds(in, end{stop: omni.Completed})
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
		return
	}
	if t.Decided == nil {
		t.Decided = map[string]string{}
	}
	t.Decided[a.Call] = denied
}

func (s *State) decide(in *session, c *call, denied string) {
	decision := omni.Allow
	if c.Denied = denied; denied != "" {
		decision = omni.Deny
	}
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
