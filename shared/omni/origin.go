package omni

import (
	"bytes"

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
