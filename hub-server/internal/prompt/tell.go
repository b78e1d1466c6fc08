package prompt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Bounds of what a dispatch holds about answers, in bytes.
const (
	maxShown   = 500       // of an input in the text for the agent
	maxTold    = 32 << 10  // of that text
	maxGranted = 192 << 10 // of all grants
	grantSize  = 160       // of one, without what was said beside the decision
)

// grants are for what was decided, as far as a dispatch has room: what is left out is asked anew.
func grants(decided []decision) (all []wire.Grant) {
	size := 0
	for _, d := range decided {
		g := wire.Grant{RequestID: d.asked.ID, Digest: d.asked.Digest, UpdatedInput: d.answer.UpdatedInput, Response: d.answer.Response}
		if d.answer.Decision != event.Allow {
			g.Decision = d.answer.Decision
		}
		needs := grantSize + len(g.UpdatedInput) + len(g.Response)
		if !d.answer.Decision.Repeats() || size+needs > maxGranted {
			continue
		}
		size += needs
		all = append(all, g)
	}
	return all
}

// tell says the decisions in plain words.
func tell(decided []decision) string {
	var lines []string
	size := 0
	for i, d := range decided {
		line := d.sentence()
		if size += len(line); size > maxTold {
			lines = append(lines, fmt.Sprintf("%d more requests were answered.", len(decided)-i))
			break
		}
		lines = append(lines, line)
	}
	if slices.ContainsFunc(decided, func(d decision) bool { return d.answer.Decision.Repeats() }) {
		return strings.Join(lines, "\n") + " Go on."
	}
	return strings.Join(lines, "\n") + " Go on without it."
}

func (d decision) sentence() string {
	var asked event.PromptRequestedPayload
	if json.Unmarshal(d.asked.Payload, &asked) != nil {
		asked = event.PromptRequestedPayload{ToolName: "a tool"}
	}
	s := subjectOf(asked) + " " + d.verb()
	if d.answer.Reason != "" && d.answer.Decision != event.Allow {
		s += ": " + strings.TrimRight(d.answer.Reason, ". ")
	}
	return s + "."
}

// subjectOf names what was asked.
func subjectOf(asked event.PromptRequestedPayload) string {
	switch asked.Kind {
	case event.PromptQuestion:
		q := inner[event.Question](asked)
		return fmt.Sprintf("The question %q", shorten(q.Question))
	case event.PromptPlanReview:
		plan := inner[event.PlanReview](asked)
		return "The plan " + shorten(plan.PlanID)
	case event.PromptStepDecision:
		step := inner[event.StepDecision](asked)
		if step.Scope == event.ScopePlan {
			return "The decision about the plan"
		}
		return "The decision about step " + shorten(step.StepID)
	}
	s := "The request to use " + asked.ToolName
	if len(asked.Input) > len("{}") {
		s += " with " + shorten(string(asked.Input))
	}
	return s
}

// inner reads what was asked; what cannot be read says nothing.
func inner[T any](asked event.PromptRequestedPayload) (read T) {
	json.Unmarshal(asked.Inner, &read) //nolint:errcheck // it was checked when it was asked
	return read
}

// verb says what was decided.
func (d decision) verb() string {
	switch kind, a := d.asked.Kind, d.answer; {
	case a.Decision == event.NoAnswer:
		return "was not answered in time"
	case kind == event.PromptStepDecision:
		return "is: " + string(a.Decision)
	case kind == event.PromptQuestion && a.Decision == event.Allow:
		return "was answered: " + choice(a.Response)
	case kind == event.PromptPlanReview && a.Decision == event.Allow && len(a.Response) > len("{}"):
		return "was approved with changes: " + shorten(string(a.Response))
	case kind == event.PromptPlanReview && a.Decision == event.Allow:
		return "was approved"
	case kind == event.PromptPlanReview:
		return "was rejected"
	case kind == event.PromptQuestion:
		return "was declined"
	case a.Decision == event.Deny:
		return "was denied"
	case len(a.UpdatedInput) > 0:
		return "was allowed with another input: " + shorten(string(a.UpdatedInput))
	}
	return "was allowed"
}

// choice is an answer to a question as S0 spells it: the labels, then the person's own words.
func choice(response json.RawMessage) string {
	var said event.QuestionResponse
	if json.Unmarshal(response, &said) != nil {
		return shorten(string(response))
	}
	chosen := strings.Join(said.SelectedOptions, ", ")
	if chosen != "" && said.CustomText != "" {
		return shorten(chosen + "; " + said.CustomText)
	}
	return shorten(cmp.Or(chosen, said.CustomText))
}

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + " …"
}

// Subject names what a stored question asks, in plain words for a person. "" for one that cannot be read.
func Subject(payload json.RawMessage) string {
	var asked event.PromptRequestedPayload
	if json.Unmarshal(payload, &asked) != nil {
		return ""
	}
	return subjectOf(asked)
}
