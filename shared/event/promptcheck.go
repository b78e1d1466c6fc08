package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Bounds of what is asked: somebody has to read it.
const (
	MaxInner   = 128 << 10 // bytes
	maxOptions = 64
	maxSteps   = 256
)

// CheckInner says what is wrong with what a prompt of the kind asks. Keys that are not known are left alone.
func CheckInner(kind PromptKind, inner json.RawMessage) error {
	switch {
	case len(inner) > MaxInner:
		return fmt.Errorf("more than %d bytes", MaxInner)
	case Depth(inner) > MaxValueDepth:
		return fmt.Errorf("nested deeper than %d", MaxValueDepth)
	}
	switch kind {
	case PromptQuestion:
		return readInner(inner, Question.check)
	case PromptPlanReview:
		return readInner(inner, PlanReview.check)
	case PromptStepDecision:
		return readInner(inner, StepDecision.check)
	}
	return fmt.Errorf("no kind %.32q", kind)
}

func readInner[T any](inner json.RawMessage, check func(T) error) error {
	var asked T
	if err := json.Unmarshal(inner, &asked); err != nil {
		return fmt.Errorf("read what is asked: %w", err)
	}
	return check(asked)
}

func (q Question) check() error {
	switch {
	case q.Question == "":
		return errors.New("no question")
	case len(q.Options) > maxOptions:
		return fmt.Errorf("more than %d options", maxOptions)
	case len(q.Options) == 0 && !q.Custom():
		return errors.New("a question that nothing can answer")
	}
	seen := map[string]bool{}
	for _, o := range q.Options {
		if o.Label == "" || seen[o.Label] {
			return fmt.Errorf("option %.80q is empty or there twice", o.Label)
		}
		seen[o.Label] = true
	}
	return nil
}

func (p PlanReview) check() error {
	if p.PlanID == "" {
		return errors.New("no plan_id")
	}
	return checkSteps(p.Steps, p.AvailableSubagents)
}

// checkSteps holds the steps of a plan to what can be carried out: names, and an order without circles.
func checkSteps(steps []PlanStep, subagents []string) error {
	if len(steps) == 0 || len(steps) > maxSteps {
		return fmt.Errorf("%d steps; a plan has 1 to %d", len(steps), maxSteps)
	}
	after := map[string][]string{}
	for _, s := range steps {
		if _, twice := after[s.ID]; s.ID == "" || twice {
			return fmt.Errorf("step %.80q has no id, or that of another one", s.ID)
		}
		if s.SubagentType != "" && len(subagents) > 0 && !slices.Contains(subagents, s.SubagentType) {
			return fmt.Errorf("step %.80q is for %.80q, which is not there", s.ID, s.SubagentType)
		}
		after[s.ID] = s.DependsOn
	}
	return checkOrder(after)
}

// checkOrder takes away steps that wait for nothing until none is left.
func checkOrder(after map[string][]string) error {
	done := map[string]bool{}
	for len(done) < len(after) {
		before := len(done)
		for step, needs := range after {
			if !slices.ContainsFunc(needs, func(n string) bool { return !done[n] }) {
				done[step] = true
			}
		}
		if len(done) == before {
			return errors.New("a step depends on one that is not there, or on itself")
		}
	}
	return nil
}

func (d StepDecision) check() error {
	if d.Scope != ScopeStep && d.Scope != ScopePlan {
		return fmt.Errorf("scope %.32q is neither %s nor %s", d.Scope, ScopeStep, ScopePlan)
	}
	if d.Scope == ScopeStep && d.StepID == "" {
		return errors.New("no step_id")
	}
	return nil
}
