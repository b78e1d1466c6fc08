package screen

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// permission to use a tool.
type permission event.PromptRequestedPayload

func (p permission) line() string {
	text := "use " + Line(p.ToolName, argumentWidth) + ": "
	if p.InputBlob != nil {
		return text + "an input of " + Size(p.InputBlob.Size) + ", too large to show"
	}
	return text + Line(string(p.Input), inputWidth)
}

func (p permission) lines() []string {
	return given("asks to use "+p.ToolName, p.Description, string(p.Input))
}
func (permission) ways() string { return allowOrDeny }

// choice among answers, or one of one's own.
type choice event.Question

func (q choice) line() string {
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	if event.Question(q).Custom() {
		labels = append(labels, "…")
	}
	return Line("answer: "+q.Question+" ["+strings.Join(labels, " | ")+"]", inputWidth)
}

func (q choice) lines() []string {
	lines := []string{"asks: " + q.Question}
	for _, o := range q.Options {
		lines = append(lines, "○ "+labelled(o.Label, o.Description))
	}
	return lines
}
func (choice) ways() string { return chooseOne }

// review of a plan.
type review event.PlanReview

func (r review) line() string {
	var names []string
	for _, s := range r.Steps {
		names = append(names, strings.TrimSuffix(s.ID+" "+s.Description, " "))
	}
	text := "review plan " + r.PlanID
	if r.Goal != "" {
		text += " (" + r.Goal + ")"
	}
	return Line(text+": "+strings.Join(names, "; "), inputWidth)
}

func (r review) lines() []string {
	lines := given("asks to review plan "+r.PlanID, r.Goal, r.Rationale)
	if r.RejectionReason != "" {
		lines = append(lines, "The plan before was refused: "+r.RejectionReason)
	}
	for _, s := range r.Steps {
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
func (review) ways() string { return allowOrDeny }

// decided is what is to be decided about a plan, or a step of it, that failed.
type decided event.StepDecision

func (d decided) line() string {
	ways := "continue | cancel"
	if d.AllowRetry {
		ways = "continue | retry | cancel"
	}
	return Line("decide about "+d.subject()+": "+d.Reason+" ["+ways+"]", inputWidth)
}

func (d decided) lines() []string {
	lines := given("asks to decide about "+d.subject(), d.Reason)
	if d.Attempts > 0 {
		lines = append(lines, fmt.Sprintf("tried %d times", d.Attempts))
	}
	return lines
}
func (decided) ways() string { return goOn }

func (d decided) subject() string {
	switch {
	case d.Scope != event.ScopeStep:
		return "the plan"
	case d.StepDescription != "":
		return "step " + d.StepID + " (" + d.StepDescription + ")"
	}
	return "step " + d.StepID
}

func labelled(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + description
}
