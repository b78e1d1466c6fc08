package screen

import (
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

const inputWidth = 300 // runes: whoever allows something must have seen it

// Question says in one line what an agent asks, given the payload of its request.
func Question(payload json.RawMessage) string {
	p, ok := read[event.PromptRequestedPayload](payload)
	if !ok {
		return Line(string(payload), inputWidth)
	}
	return question(p)
}

func question(p event.PromptRequestedPayload) string {
	switch p.Kind {
	case event.PromptQuestion:
		if q, ok := read[event.Question](p.Inner); ok {
			return choices(q)
		}
	case event.PromptPlanReview:
		if plan, ok := read[event.PlanReview](p.Inner); ok {
			return steps(plan)
		}
	case event.PromptStepDecision:
		if step, ok := read[event.StepDecision](p.Inner); ok {
			return failedStep(step)
		}
	case event.PromptPermission:
		return permission(p)
	}
	return Line(string(p.Kind), argumentWidth) + ": " + Line(string(p.Inner), inputWidth)
}

func permission(p event.PromptRequestedPayload) string {
	text := "use " + Line(p.ToolName, argumentWidth) + ": "
	if p.InputBlob != nil {
		return text + "an input of " + Size(p.InputBlob.Size) + ", too large to show"
	}
	return text + Line(string(p.Input), inputWidth)
}

func choices(q event.Question) string {
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	if q.Custom() {
		labels = append(labels, "…")
	}
	return Line("answer: "+q.Question+" ["+strings.Join(labels, " | ")+"]", inputWidth)
}

func steps(plan event.PlanReview) string {
	var names []string
	for _, s := range plan.Steps {
		names = append(names, strings.TrimSuffix(s.ID+" "+s.Description, " "))
	}
	text := "review plan " + plan.PlanID
	if plan.Goal != "" {
		text += " (" + plan.Goal + ")"
	}
	return Line(text+": "+strings.Join(names, "; "), inputWidth)
}

func failedStep(d event.StepDecision) string {
	text := "decide about the plan"
	if d.Scope == event.ScopeStep {
		text = "decide about step " + d.StepID
		if d.StepDescription != "" {
			text += " (" + d.StepDescription + ")"
		}
	}
	ways := "continue | cancel"
	if d.AllowRetry {
		ways = "continue | retry | cancel"
	}
	return Line(text+": "+d.Reason+" ["+ways+"]", inputWidth)
}
