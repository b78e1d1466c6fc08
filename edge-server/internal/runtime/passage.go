package runtime

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime/redact"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// source is where a text comes from: texts of different sources are never joined.
type source struct {
	agent   event.SubAgent
	channel run.Channel
	call    string // of a tool's input or output
	tool    string // of a tool's input
	apart   bool   // reasoning outside of any message
}

func sourceOf(d run.Delta) source { return source{d.Agent, d.Channel, d.Call, d.Tool, d.Apart} }

// passage is a text that is redacted as one. For a whole source, block is the one that it was in last.
type passage struct {
	source
	block int
	text  *redact.Stream
}

// delta is the next text of the passage, on its way out.
func (p passage) delta(text string) run.Delta {
	return run.Delta{Agent: p.agent, Channel: p.channel, Call: p.call, Tool: p.tool, Apart: p.apart, Block: p.block, Text: text}
}

// passages are those that hold something back, the longest untouched first: one that holds nothing back remembers nothing.
type passages []*passage

// take takes the first passage that is wanted off the list; nil if there is none.
func (ps *passages) take(wanted func(*passage) bool) *passage {
	for i, p := range *ps {
		if wanted(p) {
			*ps = append((*ps)[:i:i], (*ps)[i+1:]...)
			return p
		}
	}
	return nil
}

// hold remembers p. It returns the passage that is given up for it, nil while there is room.
func (ps *passages) hold(p *passage) (oldest *passage) {
	if len(*ps) == maxHeldBack {
		oldest = ps.take(func(*passage) bool { return true })
	}
	*ps = append(*ps, p)
	return oldest
}
