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
	chain := append([]string{session}, m.origin...)
	value := []byte{'['}
	for i, name := range chain {
		if i > 0 {
			value = append(value, ',')
		}
		value = event.AppendString(value, name)
	}
	return m.withOrigin(chain, append(value, ']'))
}

// withOrigin puts a value in the place of that of the origin, or behind the last member. Nothing else is read again: only the payload may stand
// elsewhere now.
func (m Message) withOrigin(chain []string, value []byte) (Message, error) {
	const key = `,"origin":`
	old := m.originSpan
	if old.to == 0 {
		end := bytes.LastIndexByte(m.line, '}')
		old = span{end, end}
		value = append([]byte(key), value...)
	}
	more := len(value) - (old.to - old.from)
	if len(m.line)+more > MaxBytes {
		return Message{}, ErrTooLarge
	}
	passed := m
	passed.origin = chain
	passed.line = slices.Concat(m.line[:old.from], value, m.line[old.to:])
	passed.originSpan = span{old.from, old.to + more}
	if m.originSpan.to == 0 {
		passed.originSpan.from += len(key)
	}
	if m.payload.from > old.from {
		passed.payload = span{m.payload.from + more, m.payload.to + more}
	}
	return passed, nil
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
