package cards

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// in returns the scope that a fact happened in. A sub-agent that nothing has declared gets a card with its name.
func (s *State) in(t *thread, name event.SubAgent) *scope {
	if name == "" || name == card.MainAgent {
		return t.main()
	}
	if sc := t.declared(name); sc != nil {
		return sc
	}
	sc := s.newScope(t, name, t.main())
	payload := card.AgentPayload{Name: string(name), ParentAgentID: t.main().id}
	s.openAgent(sc, t, string(name), t.spawnerOf(t.main()), payload)
	return sc
}

// openAgent adds the card of an agent, whose id is the scope's (S0 §3.2).
func (s *State) openAgent(sc *scope, t *thread, own string, parent *node, payload card.AgentPayload) *node {
	n := &node{id: s.newID(card.Agent, own), ref: own, kind: card.Agent}
	sc.id, sc.card = n.id, n
	return s.openAs(n, sc, t, parent, payload, nil)
}

// spawnerOf is where an agent appears that another one started, as no fact says which step or call did: its newest open call, else its newest
// message, else its card.
func (t *thread) spawnerOf(sc *scope) *node {
	if tool := t.openTool(sc); tool != nil {
		return tool
	}
	return sc.tip()
}

func (s *State) taskStarted(f Fact) {
	p, ok := read[event.TaskStartedPayload](f)
	if !ok || p.AgentID == "" || p.AgentID == card.MainAgent {
		return
	}
	t := s.of(f.Run)
	above := s.in(t, p.ParentAgentID)
	payload := card.AgentPayload{
		Name: p.Name, AgentType: p.AgentType, SubagentType: p.SubagentType, ParentAgentID: above.id, TaskPrompt: p.TaskPrompt,
	}
	if sc := t.declared(p.AgentID); sc != nil && sc.card.open {
		s.set(sc.card, payload)
		return
	}
	sc := s.newScope(t, p.AgentID, above)
	s.openAgent(sc, t, string(p.AgentID), t.placeOf(p, above), payload)
}

// placeOf is the card of the step that a sub-agent carries out, else of the call that asked for it, else of the sub-agent that started it, else
// an open call, else the newest message, else the turn (facts 0.11).
func (t *thread) placeOf(p event.TaskStartedPayload, above *scope) *node {
	if step := t.step("", p.StepID); step != nil {
		return step
	}
	if tool := t.find(card.Tool, p.ToolCallID); tool != nil {
		return tool
	}
	if above != t.main() {
		return above.card
	}
	return t.spawnerOf(above)
}

func (s *State) subAgentStatus(f Fact) {
	p, ok := read[event.SubAgentStatusPayload](f)
	if !ok || p.AgentID == "" || p.AgentID == card.MainAgent {
		return
	}
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	told := card.AgentPayload{OutputSummary: p.OutputSummary, NumTurns: p.NumTurns, DeniedTools: p.DeniedTools}
	if !p.Status.Ended() {
		s.change(sc.card, told, p.OutputSummary == "" && p.NumTurns == 0 && len(p.DeniedTools) == 0)
		return
	}
	told.Artifacts = sc.card.artifacts
	end := card.End{Status: card.Status(p.Status)}
	if p.Error != nil && end.Status == card.Failed {
		end.Error = s.failure(*p.Error)
	}
	s.closeScope(sc, end)
	end.Inner = told
	end.Metrics = metricsOf(p.Usage)
	s.close(sc.card, end)
}

// change is set, or a mere sign of life if nothing is to be told.
func (s *State) change(n *node, payload any, nothing bool) {
	if nothing {
		s.renew(n)
		return
	}
	s.set(n, payload)
}

// closeScope closes what is open in a sub-agent that has ended, the cards below first.
func (s *State) closeScope(sc *scope, end card.End) {
	t := sc.card.thread
	for _, n := range slices.Backward(slices.Clone(t.nodes)) {
		if n.open && n.scope == sc && n != sc.card {
			s.close(n, end)
		}
	}
}
