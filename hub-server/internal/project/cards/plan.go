package cards

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func (s *State) plan(f Fact) {
	p, ok := read[event.PlanPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	payload := card.PlanPayload{PlanID: p.PlanID, Goal: p.Goal, Strategy: p.Strategy, Rationale: p.Rationale, Steps: planned(p.Steps)}
	if n := t.find(card.Plan, p.PlanID); n != nil && n.open {
		s.set(n, payload)
		return
	}
	sc := s.in(t, p.AgentID)
	s.open(sc, t, card.Plan, p.PlanID, sc.card, payload, &card.Hint{Summary: summary(p.Goal)})
}

func planned(steps []event.PlannedStep) []card.PlanStep {
	var out []card.PlanStep
	for _, step := range steps {
		out = append(out, card.PlanStep(step))
	}
	return out
}

// planStep shows how far a step is. A step that is tried again after its end is open again.
func (s *State) planStep(f Fact) {
	p, ok := read[event.PlanStepPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	told := card.StepPayload{
		SubagentType: p.SubagentType, InputSummary: p.InputSummary, OutputSummary: p.OutputSummary, Attempts: p.Attempts,
		Deliverables: s.deliverables(p.Deliverables),
	}
	if !p.Status.Ended() {
		told.Status = string(p.Status)
	}
	n := t.step(p.PlanID, p.StepID)
	switch {
	case n == nil:
		n = s.openStep(t, p, told)
	case !p.Status.Ended():
		s.set(n, told)
	}
	n.queued, n.worker = p.Status == event.WorkQueued, orElse(p.SubagentType, n.worker)
	if !p.Status.Ended() {
		return
	}
	told.Artifacts = n.artifacts
	end := card.End{Status: card.Status(p.Status), Inner: told}
	if p.Error != nil && end.Status == card.Failed {
		end.Error = s.failure(*p.Error)
	}
	s.close(n, end)
}

func (s *State) openStep(t *thread, p event.PlanStepPayload, told card.StepPayload) *node {
	sc := s.in(t, p.AgentID)
	told.StepID = p.StepID
	if told.Status == "" {
		told.Status = string(event.WorkRunning)
	}
	n := &node{id: s.newID(card.Step, p.StepID), ref: stepRef(p.PlanID, p.StepID), kind: card.Step}
	return s.openAs(n, sc, t, t.planOf(p.PlanID, sc), told, &card.Hint{Summary: summary(p.InputSummary)})
}

// planOf is the card of a plan, else of the newest open one, else of the agent.
func (t *thread) planOf(planID string, sc *scope) *node {
	if n := t.find(card.Plan, planID); n != nil {
		return n
	}
	if n := t.newest(func(n *node) bool { return n.kind == card.Plan && n.open }); n != nil {
		return n
	}
	return sc.card
}

// stepFor is the step that an agent works at: the only one at work that names its kind, else the only one at work; nil if nobody can tell.
func (t *thread) stepFor(agent string) *node {
	var named, working []*node
	for _, n := range t.nodes {
		if n.kind != card.Step || !n.open || n.queued {
			continue
		}
		working = append(working, n)
		if n.worker == agent {
			named = append(named, n)
		}
	}
	for _, only := range [][]*node{named, working} {
		if len(only) == 1 {
			return only[0]
		}
	}
	return nil
}

const stepMark = "\x00" // between the ids of a plan and a step

func stepRef(planID, stepID string) string { return planID + stepMark + stepID }

// step returns the newest card of a step, of any plan if planID is "".
func (t *thread) step(planID, stepID string) *node {
	switch {
	case stepID == "":
		return nil
	case planID != "":
		return t.find(card.Step, stepRef(planID, stepID))
	}
	return t.newest(func(n *node) bool { return n.kind == card.Step && strings.HasSuffix(n.ref, stepMark+stepID) })
}

// planEnded closes a plan, and its steps first: what nobody has ended was not done.
func (s *State) planEnded(f Fact) {
	p, ok := read[event.PlanEndedPayload](f)
	if !ok || !p.Status.Ended() {
		return
	}
	t := s.of(f.Run)
	n := t.find(card.Plan, p.PlanID)
	if n == nil {
		return
	}
	left := card.End{Status: card.Skipped}
	if p.Status == event.WorkCancelled {
		left.Status = card.Cancelled
	}
	for _, step := range slices.Backward(slices.Clone(t.nodes)) {
		if step.kind == card.Step && step.parent == n && step.open {
			s.close(step, left)
		}
	}
	end := card.End{Status: card.Status(p.Status)}
	if p.Error != nil && end.Status == card.Failed {
		end.Error = s.failure(*p.Error)
	}
	s.close(n, end)
}
