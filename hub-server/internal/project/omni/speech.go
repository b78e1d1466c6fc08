package omni

import (
	"hash/crc64"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// fragment is a text, or reasoning, that has begun and not ended. A session has one at a time: where the agent goes on with the other, it ends.
type fragment struct {
	Thinking bool      `json:"thinking,omitempty"`
	Text     string    `json:"text"` // so far: the complete message repeats it
	At       time.Time `json:"at"`   // its beginning

	Fidelity event.Opaque `json:"fidelity,omitempty"` // with which it ends
}

// told is what has been said of a text: how much, and a checksum of it.
type told struct {
	Bytes int    `json:"bytes,omitempty"`
	Sum   uint64 `json:"sum,omitempty"`
}

var sums = crc64.MakeTable(crc64.ECMA)

func (d told) and(text string) told {
	return told{Bytes: d.Bytes + len(text), Sum: crc64.Update(d.Sum, sums, []byte(text))}
}

// rest is what of the whole text has not been said; false if the whole does not go on from what was.
func (d told) rest(whole string) (string, bool) {
	if len(whole) < d.Bytes || (told{}).and(whole[:d.Bytes]) != d {
		return "", false
	}
	return whole[d.Bytes:], true
}

// maxOpen is how many bytes a fragment has at most. A longer text is several messages.
const maxOpen = 1 << 20

func (s *State) messageStarted(f Fact) {
	if p, ok := read[event.MessageStartedPayload](f); ok {
		s.turnTo(s.in(s.of(f.Run), p.AgentID), p)
	}
}

// turnTo is where an agent goes on with a message, which may be the one that it is at.
func (s *State) turnTo(in *session, p event.MessageStartedPayload) {
	if in.Message == p.MessageID {
		return
	}
	s.close(in, "")
	in.Message, in.Told = p.MessageID, told{}
}

func (s *State) messageDelta(f Fact) {
	p, ok := read[event.DeltaPayload](f)
	if !ok || p.Delta == "" {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	s.turnTo(in, event.MessageStartedPayload{MessageID: p.MessageID})
	in.Told = in.Told.and(p.Delta)
	s.say(in, false, p.Delta)
}

func (s *State) thinking(f Fact) {
	p, ok := read[event.DeltaPayload](f)
	if !ok {
		return
	}
	in := s.in(s.of(f.Run), p.AgentID)
	s.say(in, true, p.Delta)
	if p.Last {
		s.seal(in, true, p.Fidelity.Fidelity, "")
	}
}

// seal ends a text, or reasoning, with what its provider attached to it: that may be all there is of it.
func (s *State) seal(in *session, thinking bool, fidelity event.Opaque, reason omni.StopReason) {
	if in.Open != nil && in.Open.Thinking != thinking {
		s.close(in, reason)
	}
	if in.Open == nil && fidelity != "" {
		s.open(in, thinking)
	}
	if in.Open != nil {
		in.Open.Fidelity = fidelity
	}
	s.close(in, reason)
}

func (s *State) open(in *session, thinking bool) {
	s.requestBegins(in)
	in.Open = &fragment{Thinking: thinking, At: s.at}
	s.tell(in, in.Open.piece(omni.Start, "", ""))
}

// say adds to the fragment, and begins one where another, or none, is open.
func (s *State) say(in *session, thinking bool, text string) {
	for text != "" {
		if in.Open != nil && (in.Open.Thinking != thinking || len(in.Open.Text)+utf8.UTFMax > maxOpen) {
			s.close(in, "")
		}
		if in.Open == nil {
			s.open(in, thinking)
		}
		n := min(len(text), maxOpen-len(in.Open.Text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		in.Open.Text += text[:n]
		s.tell(in, in.Open.piece(omni.Delta, text[:n], ""))
		text = text[n:]
	}
}

// close ends the fragment that is open, if one is, with its complete message.
func (s *State) close(in *session, reason omni.StopReason) {
	open := in.Open
	if open == nil {
		return
	}
	in.Open = nil
	if in.Compacting != nil && !open.Thinking {
		in.Compacting.Summary = open.Text
	}
	s.tell(in, open.piece(omni.Stop, "", reason))
	s.tell(in, open.whole(reason))
}

func (f *fragment) piece(at omni.StreamEvent, text string, reason omni.StopReason) omni.Payload {
	if f.Thinking {
		p := omni.PartialThinking(at, text)
		p.StopReason = reason
		return p
	}
	p := omni.PartialText(at, text)
	p.StopReason = reason
	return p
}

func (f *fragment) whole(reason omni.StopReason) omni.Payload {
	if f.Thinking {
		p := omni.Thinking(f.Text, raw(f.Fidelity))
		p.StopReason = reason
		return p
	}
	p := omni.AssistantText(f.Text)
	p.Fidelity, p.StopReason = raw(f.Fidelity), reason
	return p
}

// messageDone says what of the text was not streamed, and ends it. A text that does not go on from what was streamed is a message of its own
// behind that. What was cut off says why; without a reason of its own, what ends while the run is being stopped was stopped.
func (s *State) messageDone(f Fact) {
	p, ok := read[event.MessageCompletedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	in := s.in(t, p.AgentID)
	s.turnTo(in, event.MessageStartedPayload{MessageID: p.MessageID})
	text := p.Content
	if p.ContentBlob != nil {
		text = f.blob(p.ContentBlob)
	}
	rest, goesOn := in.Told.rest(text)
	if !goesOn && p.ContentBlob == nil {
		s.close(in, "")
		rest = text
	}
	s.say(in, false, rest)
	reason := omni.StopReason(p.StopReason)
	if reason == "" && t.Cancelling {
		reason = omni.Aborted
	}
	s.seal(in, false, p.Fidelity.Fidelity, reason)
	in.Message, in.Told = "", told{}
}
