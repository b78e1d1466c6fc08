package cards

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const (
	targetClient = "client" // a tool that a client carries out (S0 §10.3)
	mostCalling  = 64       // calls of a run that are remembered before a client may answer them
)

// calling is a call of a client's tool that cannot be answered yet: the request to the client is to follow. Its card is added with that, so that
// whoever sees it may answer. Of what it is called with nothing is kept: the request says it again.
type calling struct {
	ref    string
	name   string
	intent string
}

func (t *thread) calls(p event.ToolStartedPayload) {
	if len(t.calling) == mostCalling {
		t.calling = t.calling[1:]
	}
	t.calling = append(t.calling, calling{ref: p.ToolCallID, name: p.ToolName, intent: p.Intent})
}

// called takes a call of a client's tool out of what is remembered; false if nothing has announced it.
func (t *thread) called(ref string) (calling, bool) {
	i := slices.IndexFunc(t.calling, func(c calling) bool { return c.ref == ref })
	if i < 0 {
		return calling{}, false
	}
	c := t.calling[i]
	t.calling = slices.Delete(t.calling, i, i+1)
	return c, true
}

// clientCalled adds the card of a call that a client is to carry out. It waits as what people are asked does, but nobody is asked.
func (s *State) clientCalled(f Fact, p event.PromptRequestedPayload) {
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	c, _ := t.called(p.ToolCallID)
	n := t.find(card.Tool, p.ToolCallID)
	if n == nil || !n.open {
		payload := card.ToolPayload{Name: p.ToolName, Target: targetClient, Intent: c.intent, Input: p.Input, Phase: card.Executing}
		if p.InputBlob != nil {
			payload.Input, payload.Metadata = nil, blob("input_blob", p.InputBlob)
		}
		n = s.openTool(t, sc, p.ToolCallID, payload)
	} else {
		s.set(n, card.ToolPayload{Target: targetClient, Phase: card.Executing})
	}
	last := &s.out[len(s.out)-1]
	last.Request, last.Card = p.RequestID, n.id
	t.prompts = append(t.prompts, &asked{request: p.RequestID, scope: sc, tool: n, client: true})
}

// returned ends the waiting for a client whose call is over.
func (t *thread) returned(n *node) {
	t.prompts = slices.DeleteFunc(t.prompts, func(a *asked) bool { return a.client && a.tool == n })
}
