package omni

import (
	"bytes"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// WithOrigin returns the message as the parent of a sub-agent's session passes it on: with that session in front of its origin (S1, origin). All
// other bytes stay. Errors are Problems for a session without a name, an origin that is no list of names, and ErrTooLarge.
func (m Message) WithOrigin(session string) (Message, error) {
	if session == "" {
		return Message{}, Problems{{Path: "origin[0]", What: "is empty"}}
	}
	if m.line == nil {
		return Message{}, ErrNotMessage
	}
	var problems Problems
	m.checkOrigin(&problems)
	if problems != nil {
		return Message{}, problems
	}
	origin, err := event.Encode(append([]string{session}, m.origin...))
	if err != nil {
		return Message{}, err
	}
	from, to := m.originSpan.from, m.originSpan.to
	if to == 0 { // behind the last member
		from = bytes.LastIndexByte(m.line, '}')
		to = from
		origin = append([]byte(`,"origin":`), origin...)
	}
	line := make([]byte, 0, len(m.line)+len(origin))
	line = append(append(append(line, m.line[:from]...), origin...), m.line[to:]...)
	return parse(line)
}

// WithoutOrigin returns the message as it stands in the trace of the session that said it: without the chain, and all other bytes as they were. Of
// what WithOrigin made it gives the very line back.
func (m Message) WithoutOrigin() Message {
	if m.originSpan.to == 0 {
		return m
	}
	from, to := 0, m.originSpan.to
	for _, at := range members(m.line) {
		if at == m.originSpan {
			break
		}
		from = at.to
	}
	if from > 0 {
		from = space(m.line, from) // at the comma before it
	} else {
		from, to = space(m.line, 0)+1, next(m.line, to) // it is the first: the comma is behind it
	}
	bare, err := parse(append(slices.Clone(m.line[:from]), m.line[to:]...))
	if err != nil { // it was a message, and has only lost a member that none needs
		return m
	}
	return bare
}
