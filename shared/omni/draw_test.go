package omni_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// item is what is said in one go, in steps between which others may speak; the payloads of a step stay together.
type item [][]omni.Payload

// drawn is a stream that keeps all rules.
type drawn struct {
	stream   []omni.Message
	streamed []omni.Message // the complete messages that fragments precede, without fidelity
}

// drawStream draws a session and up to two of its sub-agents, which speak at the same time.
func drawStream(t *rapid.T) drawn {
	var d drawn
	var scripts []item
	origins := [][]string{nil, {"sub_a"}, {"sub_b", "sub_c"}}[:rapid.IntRange(1, 3).Draw(t, "sessions")]
	for range origins {
		s := session{t: t}
		scripts = append(scripts, s.draw())
	}
	for _, step := range interleave(t, scripts) {
		for _, p := range step.payloads {
			m := via(t, p, origins[step.of])
			d.stream = append(d.stream, m)
		}
		if n := len(step.payloads); n > 1 { // a stop and its complete message
			d.streamed = append(d.streamed, via(t, plain(step.payloads[n-1]), origins[step.of]))
		}
	}
	return d
}

func via(t *rapid.T, p omni.Payload, origin []string) omni.Message {
	m := made(t, p)
	for i := len(origin) - 1; i >= 0; i-- {
		var err error
		if m, err = m.WithOrigin(origin[i]); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// plain is a complete message as its fragments tell it.
func plain(p omni.Payload) omni.Payload {
	unsaid := func(r *omni.StopReason) {
		if *r == omni.Completed {
			*r = ""
		}
	}
	switch p := p.(type) {
	case omni.TextPayload:
		p.Fidelity = nil
		unsaid(&p.StopReason)
		return p
	case omni.ThinkingPayload:
		p.Fidelity = nil
		unsaid(&p.StopReason)
		return p
	case omni.ToolCallPayload:
		p.Fidelity = nil
		unsaid(&p.StopReason)
		return p
	case omni.ToolCallOutputPayload:
		unsaid(&p.StopReason)
		return p
	}
	return p
}

type step struct {
	of       int // which item
	payloads []omni.Payload
}

// interleave draws an order in which items take turns, each in its own order.
func interleave(t *rapid.T, items []item) []step {
	var order []step
	left := make([]item, len(items))
	copy(left, items)
	for {
		var able []int
		for i, it := range left {
			if len(it) > 0 {
				able = append(able, i)
			}
		}
		if len(able) == 0 {
			return order
		}
		i := rapid.SampledFrom(able).Draw(t, "turn")
		order = append(order, step{of: i, payloads: left[i][0]})
		left[i] = left[i][1:]
	}
}

// session draws what happens in one session.
type session struct {
	t     *rapid.T
	said  item
	usage omni.TokenCounts
	calls int
}

func (s *session) draw() item {
	if rapid.Bool().Draw(s.t, "meta") {
		s.say(sessionMeta())
	}
	for range rapid.IntRange(1, 3).Draw(s.t, "turns") {
		s.turn()
		if rapid.IntRange(0, 3).Draw(s.t, "compact") == 0 {
			s.compact()
		}
	}
	return s.said
}

func (s *session) say(p omni.Payload) { s.said = append(s.said, []omni.Payload{p}) }

func (s *session) turn() {
	s.say(omni.RequestBegin())
	var calls []string
	items := []item{s.thinking(), s.text()}
	for range rapid.IntRange(0, 3).Draw(s.t, "calls") {
		s.calls++
		id := fmt.Sprintf("call_%d", s.calls)
		calls = append(calls, id)
		items = append(items, s.call(id))
	}
	s.together(items)
	request := omni.TokenCounts{Output: omni.Count(rapid.IntRange(0, 99).Draw(s.t, "output")), Total: 100}
	s.say(omni.TokenUsage(s.usage, request))
	s.usage = s.usage.Plus(request)
	if rapid.IntRange(0, 4).Draw(s.t, "fails") == 0 {
		s.say(omni.RequestEnd(omni.Timeout, omni.RetryDetail{ErrorMessage: "quota", Attempt: 1, RetryInMS: retryIn(2000)}))
		return
	}
	s.say(omni.RequestEnd(omni.Completed, omni.RetryDetail{}))
	if rapid.IntRange(0, 4).Draw(s.t, "aborted") == 0 {
		s.say(omni.Abort("user"))
		return
	}
	outputs := []item{{{omni.UserText("[user_steering]")}}}
	for _, id := range calls {
		outputs = append(outputs, s.output(id))
	}
	s.together(outputs)
}

func (s *session) together(items []item) {
	for _, step := range interleave(s.t, items) {
		s.said = append(s.said, step.payloads)
	}
}

func (s *session) compact() {
	begun := omni.CompactionBegin(omni.TurnsReached, omni.Summarize, 1000, 3)
	s.say(begun)
	s.said = append(s.said, s.text()...)
	status := rapid.SampledFrom([]omni.StopReason{omni.Completed, omni.Failed}).Draw(s.t, "compacted")
	s.say(omni.CompactionEnd(begun, status, omni.RetryDetail{}))
	if status == omni.Completed && rapid.Bool().Draw(s.t, "meta") {
		s.say(sessionMeta())
	}
}

// ends draws how fragments and their complete message say that they end: to say completed and to say nothing is the same.
func (s *session) ends() (there, here omni.StopReason) {
	there = rapid.SampledFrom(append([]omni.StopReason{"", ""}, omni.StopReasons()...)).Draw(s.t, "reason")
	here = there
	if there == "" && rapid.Bool().Draw(s.t, "said") {
		here = omni.Completed
	}
	return there, here
}

// pieces draws a text and cuts it.
func (s *session) pieces() (whole string, pieces []string) {
	for range rapid.IntRange(0, 3).Draw(s.t, "pieces") {
		pieces = append(pieces, rapid.StringN(0, 6, -1).Draw(s.t, "piece"))
		whole += pieces[len(pieces)-1]
	}
	return whole, pieces
}

func (s *session) fidelity() []byte {
	if rapid.Bool().Draw(s.t, "fidelity") {
		return raw(oddFidelity)
	}
	return nil
}

// streamed is an item in fragments, or now and then without.
func (s *session) streamed(pieces []string, whole omni.Payload, fragment func(omni.StreamEvent, string) omni.Payload) item {
	if rapid.IntRange(0, 4).Draw(s.t, "at once") == 0 {
		return item{{whole}}
	}
	it := item{{fragment(omni.Start, "")}}
	for _, piece := range pieces {
		it = append(it, []omni.Payload{fragment(omni.Delta, piece)})
	}
	return append(it, []omni.Payload{fragment(omni.Stop, ""), whole})
}

func (s *session) text() item {
	there, here := s.ends()
	text, pieces := s.pieces()
	return s.streamed(pieces, omni.TextPayload{Role: omni.Assistant, Text: text, Fidelity: s.fidelity(), StopReason: here},
		func(e omni.StreamEvent, piece string) omni.Payload {
			return omni.PartialTextPayload{EventType: e, Text: piece, StopReason: onStop(e, there)}
		})
}

func (s *session) thinking() item {
	there, here := s.ends()
	text, pieces := s.pieces()
	return s.streamed(pieces, omni.ThinkingPayload{Thinking: text, Fidelity: s.fidelity(), StopReason: here},
		func(e omni.StreamEvent, piece string) omni.Payload {
			return omni.PartialThinkingPayload{EventType: e, Thinking: piece, StopReason: onStop(e, there)}
		})
}

func (s *session) call(id string) item {
	there, here := s.ends()
	text, pieces := s.pieces()
	named := rapid.SampledFrom([]omni.StreamEvent{omni.Start, omni.Stop}).Draw(s.t, "named in")
	whole := omni.ToolCallPayload{Name: "bash", Arguments: text, ToolCallID: id, Fidelity: s.fidelity(), StopReason: here}
	return s.streamed(pieces, whole, func(e omni.StreamEvent, piece string) omni.Payload {
		p := omni.PartialToolCallPayload{EventType: e, Arguments: piece, ToolCallID: id, StopReason: onStop(e, there)}
		if e == named {
			p.Name = "bash"
		}
		return p
	})
}

func (s *session) output(id string) item {
	there, here := s.ends()
	text, pieces := s.pieces()
	whole := omni.ToolCallOutputPayload{Output: text, ToolCallID: id, StopReason: here}
	pictures := len(pieces) > 0 && rapid.Bool().Draw(s.t, "images")
	if pictures {
		whole.Images = []string{image, image}
	}
	it := s.streamed(pieces, whole, func(e omni.StreamEvent, piece string) omni.Payload {
		p := omni.PartialToolCallOutputPayload{EventType: e, Output: piece, ToolCallID: id, StopReason: onStop(e, there)}
		if pictures && e == omni.Delta {
			p.Images, pictures = whole.Images, false
		}
		return p
	})
	if rapid.Bool().Draw(s.t, "approved") {
		it = append(item{{omni.ApprovalDecision(id, omni.Allow)}}, it...)
	}
	return it
}

func onStop(e omni.StreamEvent, reason omni.StopReason) omni.StopReason {
	if e != omni.Stop {
		return ""
	}
	return reason
}
