package run

import (
	"maps"
	"slices"
)

// Copy returns a Normaliser in the same state, which then goes its own way.
func (n *Normaliser) Copy() *Normaliser {
	c := &Normaliser{
		newMessageID: n.newMessageID, newToolCallID: n.newToolCallID,
		open: n.open, final: n.final, spoken: n.spoken, tools: n.tools.copy(), asked: slices.Clone(n.asked),
		gone: n.gone, why: n.why, ended: n.ended,
	}
	c.text.WriteString(n.text.String())
	return c
}

func (t *tools) copy() tools {
	return tools{open: slices.Clone(t.open), names: maps.Clone(t.names), closed: maps.Clone(t.closed), order: slices.Clone(t.order)}
}
