package omni

import (
	"bytes"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

func (s *State) toolStarted(f Fact) {
	p, ok := read[event.ToolStartedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	in := s.in(t, p.AgentID)
	s.bound(t)
	c := s.called(in, f, p)
	if c == nil {
		return
	}
	if denied, known := t.takeDecision(p.AgentID, p.ToolCallID); known {
		s.decide(in, c, denied)
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
		wrote := c.Wrote
		if c.Wrote = ""; wrote == "" {
			return nil
		}
		if !known || wrote == mark(arguments) {
			return c
		}
		s.answer(in, c, returning{reason: omni.Malformed})
	}
	s.close(in, "")
	s.requestBegins(in)
	if w := in.take(p.ToolCallID); w != nil {
		if w.Tool == p.ToolName && (!known || meant(w.Text, arguments)) {
			c := s.complete(in, w, p.Fidelity.Fidelity, "")
			c.Wrote = ""
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
	r := returning{output: p.Error.Message, reason: reason}
	if p.Error.Code == fault.RunEnded && !t.Cancelling && s.keep(t, p.AgentID, p.ToolCallID, r) {
		return
	}
	s.returned(t, p.AgentID, p.ToolCallID, r)
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
