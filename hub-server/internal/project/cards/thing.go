package cards

import (
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Words for a todo (facts 0.1).
const (
	todoCompleted = "completed"
	todoCancelled = "cancelled"
)

const opCompact = "compact"

func (s *State) todo(f Fact) {
	p, ok := read[event.TodoPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	payload := card.TodoPayload{Subject: p.Subject, Status: p.Status, Owner: p.Owner, ActiveForm: p.ActiveForm}
	n := t.find(card.Todo, p.TodoID)
	switch {
	case n == nil:
		sc := s.in(t, p.AgentID)
		n = s.open(sc, t, card.Todo, p.TodoID, sc.card, payload, nil)
	case p.Status != todoCompleted && p.Status != todoCancelled:
		s.set(n, payload)
	}
	switch p.Status {
	case todoCompleted:
		s.close(n, card.End{Status: card.OK, Inner: payload})
	case todoCancelled:
		s.close(n, card.End{Status: card.Cancelled, Inner: payload})
	}
}

func (s *State) team(f Fact) {
	p, ok := read[event.TeamPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	payload := card.TeamPayload{TeamName: p.TeamName, Members: p.Members}
	if n := t.find(card.Team, p.TeamName); n != nil && n.open {
		s.set(n, payload)
		return
	}
	sc := s.in(t, p.AgentID)
	s.open(sc, t, card.Team, p.TeamName, sc.card, payload, nil)
}

func (s *State) budget(f Fact) {
	p, ok := read[event.BudgetPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	payload := card.BudgetPayload{Kind: p.Kind, Spent: (*card.Amount)(p.Spent), Limit: (*card.Amount)(p.Limit)}
	t.usage.BudgetSpent, t.usage.BudgetLimit = payload.Spent, payload.Limit
	s.show(sc, t, card.Budget, "", sc.card, payload)
}

func (s *State) memoryOp(f Fact) {
	if p, ok := read[event.MemoryOpPayload](f); ok {
		s.remembered(f, p.AgentID, card.MemoryOpPayload{Op: p.Op, Subject: p.Subject, Bytes: p.Bytes})
	}
}

func (s *State) compaction(f Fact) {
	if p, ok := read[event.CompactionPayload](f); ok {
		s.remembered(f, p.AgentID, card.MemoryOpPayload{Op: opCompact, Subject: p.Subject, Bytes: p.Bytes})
	}
}

func (s *State) remembered(f Fact, agent event.SubAgent, payload card.MemoryOpPayload) {
	t := s.of(f.Run)
	sc := s.in(t, agent)
	s.show(sc, t, card.MemoryOp, "", sc.card, payload)
}

const keptRefs = 32 // of the artifacts of one card

func (s *State) artifact(f Fact) {
	p, ok := read[event.ArtifactCreatedPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	sc := s.in(t, p.AgentID)
	above := t.find(card.Tool, p.ToolCallID)
	if above == nil {
		above = t.openTool(sc)
	}
	if above == nil {
		above = sc.card
	}
	ref := card.ArtifactRef{
		ArtifactID: string(p.ArtifactID), Name: p.Filename, Type: p.Type, MIMEType: p.ContentType, SizeBytes: p.Size,
		Description: p.Description, Role: p.Role,
	}
	s.namesForm = nil
	s.names.Register(p.Filename, string(p.ArtifactID))
	if len(above.artifacts) < keptRefs {
		above.artifacts = append(above.artifacts, ref)
	}
	s.show(sc, t, card.Artifact, string(p.ArtifactID), above, card.ArtifactPayload{ArtifactRef: ref})
}

// deliverables are the ids of artifacts that a step names by id or by name.
func (s *State) deliverables(names []string) []string {
	var ids []string
	for _, name := range names {
		ids = append(ids, orElse(s.names.ID(name), name))
	}
	return ids
}
