package screen

import (
	"encoding/json"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

const inputWidth = 300 // runes: whoever allows something must have seen it

// asked is what an agent asks, of one kind.
type asked interface {
	line() string    // in one, safe to print
	lines() []string // all of it, as it came
	ways() string    // what to type behind `yard answer ID`
}

// ask reads a request. What cannot be read as its kind says, or is of a kind that is newer than this program, is shown as it is.
func ask(p event.PromptRequestedPayload) asked {
	switch p.Kind {
	case event.PromptPermission:
		return permission(p)
	case event.PromptQuestion:
		if q, ok := read[event.Question](p.Inner); ok {
			return choice(q)
		}
		return unread{p, chooseOne}
	case event.PromptPlanReview:
		if plan, ok := read[event.PlanReview](p.Inner); ok {
			return review(plan)
		}
	case event.PromptStepDecision:
		if step, ok := read[event.StepDecision](p.Inner); ok {
			return decided(step)
		}
		return unread{p, goOn}
	}
	return unread{p, allowOrDeny}
}

// The ways to answer.
const (
	allowOrDeny = "allow|deny"
	chooseOne   = "allow --choose LABEL --text TEXT"
	goOn        = "continue|retry|cancel"
)

// Question says in one line what an agent asks, given the payload of its request.
func Question(payload json.RawMessage) string {
	p, ok := read[event.PromptRequestedPayload](payload)
	if !ok {
		return Line(string(payload), inputWidth)
	}
	return ask(p).line()
}

// WholeQuestion says in several lines all of what an agent asks, and what to type.
func WholeQuestion(request string, payload json.RawMessage) string {
	p, ok := read[event.PromptRequestedPayload](payload)
	if !ok {
		return "asks " + Clean(string(payload))
	}
	question := ask(p)
	lines := append(question.lines(), "yard answer "+request+" "+question.ways())
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(Clean(line), "\n", "\n  ")
	}
	return strings.Join(lines, "\n  ")
}

// unread is a question that this program knows no better.
type unread struct {
	event.PromptRequestedPayload
	answer string
}

func (u unread) line() string {
	return Line(string(u.Kind), argumentWidth) + ": " + Line(string(u.Inner), inputWidth)
}
func (u unread) lines() []string { return given("asks: "+string(u.Kind), string(u.Inner)) }
func (u unread) ways() string    { return u.answer }

// given leaves out what was not said.
func given(lines ...string) (kept []string) {
	for _, line := range lines {
		if line != "" {
			kept = append(kept, line)
		}
	}
	return kept
}

// Asked says in lines all of what an agent asks.
func Asked(payload json.RawMessage) []string {
	p, ok := read[event.PromptRequestedPayload](payload)
	if !ok {
		return []string{"asks " + Clean(string(payload))}
	}
	lines := ask(p).lines()
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return lines
}
