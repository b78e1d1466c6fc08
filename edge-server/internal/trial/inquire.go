package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Answer asks the person who is at the terminal what a prompt asks, until the answer fits. The end of the turn, of the prompt's time, and of
// what is typed, is none.
func (p *Person) Answer(ctx context.Context, asked runtime.Ask) runtime.Answer {
	answer := unanswered(asked, "Nobody answered.")
	question, hint, read := wording(asked)
	p.ask(ctx, question, hint, func(line string) (string, bool) {
		given, ok := read(strings.TrimSpace(line))
		if !ok {
			return "", false
		}
		if err := event.CheckResponse(asked.Kind, asked.Inner, given.Decision, given.Response); err != nil {
			return "That does not fit: " + printable(err.Error()) + ".\n", false
		}
		given.ID, given.Kind = asked.ID, asked.Kind
		answer = given
		return "", true
	})
	return answer
}

func unanswered(asked runtime.Ask, why string) runtime.Answer {
	return runtime.Answer{ID: asked.ID, Kind: asked.Kind, Decision: event.NoAnswer, Message: why}
}

// reading makes an answer of what was typed; false if it is none.
type reading func(line string) (runtime.Answer, bool)

// wording is what a prompt looks like. What it asks has been checked, so that it can be read.
func wording(asked runtime.Ask) (question, hint string, read reading) {
	var q event.Question
	var plan event.PlanReview
	var step event.StepDecision
	switch asked.Kind {
	case event.PromptQuestion:
		_ = json.Unmarshal(asked.Inner, &q) // see above
		return printable(questionText(q)), "Your answer? [a number, several with commas, or your own words; /deny says no] ", choice(q)
	case event.PromptPlanReview:
		_ = json.Unmarshal(asked.Inner, &plan) // see above
		return printable(planText(plan)), "Go by it? [y/n, n may have a reason] ", yesOrNo
	case event.PromptStepDecision, event.PromptPermission:
	}
	_ = json.Unmarshal(asked.Inner, &step) // see above
	return printable(stepText(step)), "What now? [continue, retry or cancel; a reason may follow] ", stepAnswer
}

func questionText(q event.Question) string {
	text := "\nThe agent asks: " + q.Question + "\n"
	for i, o := range q.Options {
		text += strings.TrimRight(fmt.Sprintf("  %d  %s  %s", i+1, o.Label, o.Description), " ") + "\n"
	}
	return text
}

func planText(p event.PlanReview) string {
	text := "\nThe agent asks whether this plan is right: " + cmp.Or(p.Goal, p.PlanID) + "\n"
	for _, s := range p.Steps {
		text += "  " + s.ID + "  " + cmp.Or(s.Description, s.Prompt)
		if len(s.DependsOn) > 0 {
			text += "  (after " + strings.Join(s.DependsOn, ", ") + ")"
		}
		text += "\n"
	}
	return text
}

func stepText(s event.StepDecision) string {
	what := "The plan"
	if s.Scope == event.ScopeStep {
		what = strings.TrimSpace("Step " + s.StepID + " " + s.StepDescription)
	}
	return "\n" + strings.TrimSpace(what+" has failed. "+s.Reason) + "\n"
}

func choice(q event.Question) reading {
	return func(line string) (runtime.Answer, bool) {
		if word, reason, _ := strings.Cut(line, " "); word == "/deny" {
			return runtime.Answer{Decision: event.Deny, Message: reason}, true
		}
		said := event.QuestionResponse{SelectedOptions: chosen(q, line)}
		if said.SelectedOptions == nil {
			said.CustomText = line
		}
		response, err := event.Encode(said)
		return runtime.Answer{Decision: event.Allow, Response: response}, err == nil && line != ""
	}
}

// chosen are the options whose numbers a line consists of; nil if it does not.
func chosen(q event.Question, line string) []string {
	var labels []string
	for number := range strings.SplitSeq(line, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || i < 1 || i > len(q.Options) {
			return nil
		}
		labels = append(labels, q.Options[i-1].Label)
	}
	return labels
}

func yesOrNo(line string) (runtime.Answer, bool) {
	word, reason, _ := strings.Cut(line, " ")
	reason = strings.TrimSpace(reason)
	switch strings.ToLower(word) {
	case "y", "yes":
		return runtime.Answer{Decision: event.Allow, Message: reason}, true
	case "n", "no":
		return runtime.Answer{Decision: event.Deny, Message: reason}, true
	}
	return runtime.Answer{}, false
}

func stepAnswer(line string) (runtime.Answer, bool) {
	word, reason, _ := strings.Cut(line, " ")
	d := event.Decision(strings.ToLower(word))
	return runtime.Answer{Decision: d, Message: strings.TrimSpace(reason)}, event.PromptStepDecision.Takes(d)
}
