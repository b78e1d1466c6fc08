package cards

import (
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// thread is what the fold remembers of one run: from the first event that shows anything to its end, and on to the end of the runs it started.
type thread struct {
	run        id.Run
	parent     *thread // of the run that started it
	alive      int     // runs that it started and that are remembered
	ended      bool
	cancelling bool
	usage      card.Metrics
	root       *node    // its turn, or the agent card of a run that a run started
	scopes     []*scope // the run's own first
	nodes      []*node  // in the order of their events
	prompts    []*asked // that wait for a person or a client
	calling    []calling
	steers     []id.Steer // said to the run, and not taken
}

// scope is an agent at work in a run: the run's own, or a sub-agent. All that happens in it has its id (S0 §3.2).
type scope struct {
	name    event.SubAgent // "" is the run's own agent
	id      string         // envelope.agent_id: card.MainAgent, or the id of the agent card
	card    *node          // the turn or the agent card
	message *node          // the newest message, nil before the first
	thought *node          // the newest thinking card, nil before the first
}

// main is the run's own scope.
func (t *thread) main() *scope { return t.scopes[0] }

// declared returns the scope of a sub-agent, nil if nothing has named it.
func (t *thread) declared(name event.SubAgent) *scope {
	for i := len(t.scopes) - 1; i >= 0; i-- { // a name that was used again means the newest
		if t.scopes[i].name == name {
			return t.scopes[i]
		}
	}
	return nil
}

// tip is where the next thing of the agent appears: its newest message, else its card.
func (sc *scope) tip() *node {
	if sc.message != nil {
		return sc.message
	}
	return sc.card
}

// find returns the newest card that facts call so, nil if it is not remembered.
func (t *thread) find(kind card.Kind, ref string) *node {
	if ref == "" {
		return nil
	}
	return t.newest(func(n *node) bool { return n.kind == kind && n.ref == ref })
}

// newest returns the newest card that is so, nil if none is.
func (t *thread) newest(so func(*node) bool) *node {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if so(t.nodes[i]) {
			return t.nodes[i]
		}
	}
	return nil
}

// openTool is the newest call of an agent that has not returned, nil for none.
func (t *thread) openTool(sc *scope) *node {
	return t.newest(func(n *node) bool { return n.kind == card.Tool && n.open && n.scope == sc })
}
