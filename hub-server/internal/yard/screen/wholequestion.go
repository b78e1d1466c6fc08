package screen

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// WholeQuestion says in several lines all of what an agent asks, and what to type.
func WholeQuestion(request string, payload json.RawMessage) string {
	p, ok := read[event.PromptRequestedPayload](payload)
	if !ok {
		return "asks " + Clean(string(payload))
	}
	lines := append(whole(p), "yard answer "+request+" "+ways(p.Kind))
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(Clean(line), "\n", "\n  ")
	}
	return strings.Join(lines, "\n  ")
}

func whole(p event.PromptRequestedPayload) []string {
	switch p.Kind {
	case event.PromptQuestion:
		if q, ok := read[event.Question](p.Inner); ok {
			return wholeChoice(q)
		}
	case event.PromptPlanReview:
		if plan, ok := read[event.PlanReview](p.Inner); ok {
			return wholePlan(plan)
		}
	case event.PromptStepDecision:
		if d, ok := read[event.StepDecision](p.Inner); ok {
			return wholeStep(d)
		}
	case event.PromptPermission:
		return given("asks to use "+p.ToolName, p.Description, string(p.Input))
	}
	return given("asks: "+string(p.Kind), string(p.Inner))
}

func wholeChoice(q event.Question) []string {
	lines := []string{"asks: " + q.Question}
	for _, o := range q.Options {
		lines = append(lines, "○ "+labelled(o.Label, o.Description))
	}
	return lines
}

func wholePlan(plan event.PlanReview) []string {
	lines := given("asks to review plan "+plan.PlanID, plan.Goal, plan.Rationale)
	if plan.RejectionReason != "" {
		lines = append(lines, "The plan before was refused: "+plan.RejectionReason)
	}
	for _, s := range plan.Steps {
		name := s.ID
		if s.SubagentType != "" {
			name += " by " + s.SubagentType
		}
		if len(s.DependsOn) > 0 {
			name += " (after " + strings.Join(s.DependsOn, ", ") + ")"
		}
		lines = append(lines, labelled(name, s.Description))
	}
	return lines
}

func wholeStep(d event.StepDecision) []string {
	title := "asks to decide about the plan"
	if d.Scope == event.ScopeStep {
		title = "asks to decide about step " + d.StepID
		if d.StepDescription != "" {
			title += " (" + d.StepDescription + ")"
		}
	}
	lines := given(title, d.Reason)
	if d.Attempts > 0 {
		lines = append(lines, fmt.Sprintf("tried %d times", d.Attempts))
	}
	return lines
}

// given leaves out what was not said.
func given(lines ...string) (kept []string) {
	for _, line := range lines {
		if line != "" {
			kept = append(kept, line)
		}
	}
	return kept
}

func labelled(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + description
}
