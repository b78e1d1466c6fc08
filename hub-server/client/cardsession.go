package client

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// tell takes a session event. It has no number and is told to this connection alone.
func (f *CardForest) tell(e card.Event) Verdict {
	var p card.SessionPayload
	if json.Unmarshal(e.Payload, &p) != nil {
		return Ignored
	}
	body, err := p.Body()
	if err != nil {
		return Ignored
	}
	switch inner := body.(type) {
	case *card.OpenedInner:
		f.opened(e.Envelope, *inner)
	case *card.UpdatedInner:
		f.session.update(*inner)
	case *card.ErrorInner:
		f.session.Error = &inner.Error
		f.refuse(inner.Error)
	case *card.ResumedInner:
		f.begin(*inner)
	case *card.ResumeFailedInner:
		// What was before cannot be had any more. What comes from here on can.
		f.clear()
		f.adopt = true
	default:
		return Ignored
	}
	return Applied
}

// begin has a forest without any event begin where the hub does: what was before is not kept any more.
func (f *CardForest) begin(inner card.ResumedInner) {
	if f.last == 0 && inner.FromSeq > 1 && inner.TraceID == string(f.trace) {
		f.last, f.adopt = inner.FromSeq-1, false
	}
}

// opened begins a connection. Another trace is another forest.
func (f *CardForest) opened(at card.Envelope, inner card.OpenedInner) {
	if at.TraceID != "" && at.TraceID != f.trace {
		clear(f.prompts)
		f.clear()
		f.trace, f.adopt = at.TraceID, false
	}
	f.session.ID, f.session.Model, f.session.Capabilities, f.session.Error = at.SessionID, inner.Model, inner.Capabilities, nil
}

func (s *CardSession) update(inner card.UpdatedInner) {
	if inner.Title != "" {
		s.Title = inner.Title
	}
	if inner.Model != "" {
		s.Model = inner.Model
	}
	if inner.Members != nil {
		s.Members = inner.Members
	}
}
