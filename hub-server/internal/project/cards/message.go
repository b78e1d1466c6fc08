package cards

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Roles of a message (S0 §10.2).
const (
	roleAssistant = "assistant"
	roleUser      = "user"
)

func (s *State) messageStarted(f Fact) {
	p, ok := read[event.MessageStartedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	s.message(t, s.in(t, p.AgentID), string(p.MessageID))
}

// message returns the card of a message, which it opens if it is not there.
func (s *State) message(t *thread, sc *scope, ref string) *node {
	n := sc.message
	if n == nil || n.ref != ref {
		n = t.find(card.Message, ref)
	}
	if n == nil {
		return s.openMessage(t, sc, ref)
	}
	s.conclude(sc)
	return n
}

func (s *State) openMessage(t *thread, sc *scope, ref string) *node {
	s.settle(sc)
	sc.message = s.open(sc, t, card.Message, ref, sc.card, card.MessagePayload{Role: roleAssistant}, nil)
	return sc.message
}

// settle shows what was held back, and closes what an agent has begun that no fact will end: reasoning, and a message of nothing but a call's
// arguments. They end where the next thing begins.
func (s *State) settle(sc *scope) {
	s.conclude(sc)
	s.flush(sc.message)
	if n := sc.message; n != nil && n.open && n.ref == "" {
		s.close(n, card.End{Status: card.OK})
	}
}

// conclude closes the reasoning that stands by itself, if there is any.
func (s *State) conclude(sc *scope) {
	if n := sc.thought; n != nil && n.open {
		s.close(n, card.End{Status: card.OK})
	}
}

func (s *State) messageDelta(f Fact) {
	p, ok := readDelta(f)
	if !ok || p.Delta == "" {
		return
	}
	t := s.of(f.Run)
	s.say(s.message(t, s.in(t, p.AgentID), string(p.MessageID)), p.ContentIndex, p.Delta)
}

// say appends text to a message, with links in place of the names of artifacts (S0 §12). A name that may go on in the next piece is held back.
func (s *State) say(n *node, block int, text string) {
	if block != n.text.block {
		s.flush(n)
	}
	n.text.write(text)
	n.text.block = block
	if ready := n.text.links.Write(&s.names, text); ready != "" {
		s.append(n, card.TextChannel, block, ready)
		return
	}
	s.renew(n)
}

// flush appends what was held back of a message; n may be nil.
func (s *State) flush(n *node) {
	if n == nil {
		return
	}
	if rest := n.text.links.Flush(&s.names); rest != "" {
		s.append(n, card.TextChannel, n.text.block, rest)
	}
}

// thinking appends to the reasoning of a message. Reasoning outside of any message has a card of its own.
func (s *State) thinking(f Fact) {
	p, ok := readDelta(f)
	if !ok || p.Delta == "" {
		return
	}
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	if p.MessageID != "" {
		s.append(s.message(t, sc, string(p.MessageID)), card.ThinkingChannel, p.ContentIndex, p.Delta)
		return
	}
	if sc.thought == nil || !sc.thought.open {
		s.settle(sc)
		sc.thought = s.open(sc, t, card.Thinking, "", sc.card, card.ThinkingPayload{}, nil)
	}
	sc.thought.text.count(p.Delta)
	s.append(sc.thought, card.ThinkingChannel, p.ContentIndex, p.Delta)
}

// toolInput appends to the arguments that the model writes in a message (S0 §13.2).
func (s *State) toolInput(f Fact) {
	p, ok := read[event.ToolInputPayload](f)
	if !ok || p.PartialJSON == "" {
		return
	}
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	n := sc.message
	if n == nil || !n.open {
		n = s.openMessage(t, sc, "")
	}
	s.conclude(sc)
	s.append(n, card.ToolInputChannel, p.ContentIndex, p.PartialJSON)
}

// messageDone shows what of the text was not appended, and closes the card: as cancelled or failed where the text was cut off. A text that does not go on from what was shown is a reset: the card is
// closed and the text gets one of its own (facts 0.11).
func (s *State) messageDone(f Fact) {
	p, ok := read[event.MessageCompletedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	n := s.message(t, s.in(t, p.AgentID), string(p.MessageID))
	if p.ContentBlob != nil {
		s.fill(n, f.Whole)
	} else {
		n = s.finish(t, n, p.Content)
	}
	s.close(n, s.endOfWords(p.StopReason))
}

// endOfWords is the end of a message that was cut off for a reason, "" for one that is whole. Why its run ends, if that is what cut it off, is told
// only after it: of what failed, a message names no more than its reason says.
func (s *State) endOfWords(cut event.RequestStatus) card.End {
	code := fault.AgentError
	switch cut {
	case "", event.RequestCompleted:
		return card.End{Status: card.OK}
	case event.RequestAborted:
		return card.End{Status: card.Cancelled}
	case event.RequestTimeout:
		code = fault.Timeout
	case event.RequestAuth:
		code = fault.AuthRequired
	case event.RequestMalformed:
		code = fault.Code(card.ModelError)
	case event.RequestFailed:
	}
	why := event.ErrorObj{Code: code, Message: fmt.Sprintf("The message was cut off (%.64s).", cut)}
	return card.End{Status: card.Failed, Error: s.failure(why)}
}

// fill shows what was not streamed of a text that is kept beside the log, as far as it was read: it may be a beginning, which resets nothing.
func (s *State) fill(n *node, beginning string) {
	if rest, goesOn := n.text.rest(beginning); goesOn && rest != "" {
		s.say(n, n.text.block, rest)
	}
}

func (s *State) finish(t *thread, n *node, whole string) *node {
	rest, goesOn := n.text.rest(whole)
	if !goesOn {
		s.close(n, card.End{Status: card.OK})
		n, rest = s.openMessage(t, n.scope, n.ref), whole
	}
	if rest != "" {
		s.say(n, n.text.block, rest)
	}
	return n
}

// said shows what a person says. Who asks an agent is seen in the turn; what an agent says is in its run.
func (s *State) said(m Message) {
	if m.ByAgent || m.Triggers {
		return
	}
	b := s.trace.At(s.at, "")
	ref := card.Ref{ID: s.newID(card.Message, string(m.ID)), Kind: card.Message}
	s.tell(b.Add(ref, card.MessagePayload{Role: roleUser}, nil))
	if m.Text != "" {
		s.tell(b.Append(ref, card.TextChannel, 0, m.Text))
	}
	s.tell(b.Close(ref, card.End{Status: card.OK}))
}
