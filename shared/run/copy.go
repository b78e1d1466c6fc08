package run

import (
	"maps"
	"slices"
)

// Copy returns a Normaliser in the same state, which then goes its own way.
func (n *Normaliser) Copy() *Normaliser {
	c := &Normaliser{
		newMessageID: n.newMessageID, newToolCallID: n.newToolCallID,
		final: n.final, spoken: n.spoken, tools: n.tools.copy(), asked: slices.Clone(n.asked),
		gone: n.gone, why: n.why, ended: n.ended,
	}
	n.own.copyTo(&c.own)
	for _, s := range n.subs {
		c.subs = append(c.subs, &scope{})
		s.copyTo(c.subs[len(c.subs)-1])
	}
	return c
}

// copyTo copies s to an empty scope: a text that is being written must not be copied as a value.
func (s *scope) copyTo(to *scope) {
	to.agent, to.open = s.agent, s.open
	to.text.WriteString(s.text.String())
}

func (t *tools) copy() tools {
	return tools{open: slices.Clone(t.open), names: maps.Clone(t.names), wants: maps.Clone(t.wants), closed: maps.Clone(t.closed), order: slices.Clone(t.order)}
}
