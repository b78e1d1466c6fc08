package runtime

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// maxCallNames is how many calls a turn remembers by their ids.
const maxCallNames = 8192

type callName struct {
	agent event.SubAgent
	id    string
}

// callNames are the ids of calls that an agent has used in its turn, the newest of them: a call of a client's tool needs one of its own.
type callNames struct {
	used  map[callName]struct{}
	order []callName // oldest first
}

func (n *callNames) known(agent event.SubAgent, id string) bool {
	_, known := n.used[callName{run.ScopeID(agent), id}]
	return known
}

// note remembers the id of an event of a tool.
func (n *callNames) note(e run.AgentEvent) {
	switch e := e.(type) {
	case run.ToolCall:
		n.add(callName{run.ScopeID(e.Agent), e.ID})
	case run.ToolResult:
		n.add(callName{run.ScopeID(e.Agent), e.ID})
	}
}

func (n *callNames) add(name callName) {
	if _, known := n.used[name]; known || name.id == "" {
		return
	}
	if n.used == nil {
		n.used = map[callName]struct{}{}
	}
	n.used[name] = struct{}{}
	if n.order = append(n.order, name); len(n.order) > maxCallNames {
		delete(n.used, n.order[0])
		n.order = n.order[1:]
	}
}
