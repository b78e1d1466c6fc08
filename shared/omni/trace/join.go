package trace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// deepest is how far sub-agents' sessions may be below each other.
const deepest = 16

// What is wrong with traces that are to become one stream again.
var (
	ErrNoMeta = errors.New("a trace begins with session_meta")
	ErrApart  = errors.New("the traces are of sessions that nothing connects: no subagent event points at all but one of them")
	ErrDeep   = fmt.Errorf("sub-agents are more than %d deep", deepest)
)

// Join makes one stream of the lines of traces: of the contexts of one session, and of those of its sub-agents. Each sub-agent's session, all of it,
// comes where the first subagent event points at it, with its chain as origin; Splitter makes the same files of it again. The contexts of a session
// come in the order in which they are given.
func Join(lines []omni.Message) ([]omni.Message, error) {
	if len(lines) > 0 && !lines[0].IsSessionMeta() {
		return nil, ErrNoMeta
	}
	j := joining{sessions: map[string][]omni.Message{}}
	pointed := map[string]bool{}
	session := ""
	for _, m := range lines {
		if m.IsSessionMeta() {
			session = sessionOf(m, "")
		}
		if j.sessions[session] == nil {
			j.order = append(j.order, session)
		}
		j.sessions[session] = append(j.sessions[session], m)
		if below := pointer(m); below != "" && below != session {
			pointed[below] = true
		}
	}
	for _, session := range j.order {
		if pointed[session] {
			continue
		}
		if j.out != nil {
			return nil, ErrApart
		}
		if err := j.put(session, nil); err != nil {
			return nil, err
		}
	}
	if len(j.out) < len(lines) {
		return nil, ErrApart
	}
	return j.out, nil
}

type joining struct {
	sessions map[string][]omni.Message // that are still to come
	order    []string
	out      []omni.Message
}

// put says a session, and those below it where it points at them.
func (j *joining) put(session string, chain []string) error {
	if len(chain) > deepest {
		return ErrDeep
	}
	lines := j.sessions[session]
	delete(j.sessions, session)
	for _, m := range lines {
		passed, err := via(m, chain)
		if err != nil {
			return err
		}
		j.out = append(j.out, passed)
		below := pointer(m)
		if j.sessions[below] == nil {
			continue
		}
		if err := j.put(below, append(slices.Clone(chain), below)); err != nil {
			return err
		}
	}
	return nil
}

func via(m omni.Message, chain []string) (omni.Message, error) {
	for _, session := range slices.Backward(chain) {
		var err error
		if m, err = m.WithOrigin(session); err != nil {
			return m, fmt.Errorf("put a line into the session of a sub-agent: %w", err)
		}
	}
	return m, nil
}

// pointer is the session that a subagent event points at, "" for other messages.
func pointer(m omni.Message) string {
	if m.PayloadType() != omni.TypeSubagent || !m.IsEventMessage() {
		return ""
	}
	body, err := m.Body()
	p, ok := body.(omni.SubagentPayload)
	if err != nil || !ok {
		return ""
	}
	return p.SessionID
}
