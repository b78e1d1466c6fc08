package board

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// question is what an agent asks, and how the answer stands. Its keys answer this one alone: when it goes, the focus does, so that no key meant for
// it answers the next.
type question struct {
	client.Prompt
	asked   event.PromptRequestedPayload
	choice  event.Question // of a question
	step    event.StepDecision
	chosen  map[int]bool // options, where several may be chosen
	at      int          // the option that is pointed at
	scroll  int          // lines that are above the panel's edge
	sending bool
}

// notified takes what a person is told: questions, as they stand now.
func (b *Board) notified(payload json.RawMessage) {
	n, ok := read[client.NotificationPayload](payload)
	if !ok || n.Type != client.NotificationPayloadTypePrompt {
		return
	}
	i := slices.IndexFunc(b.questions, func(q question) bool { return q.RequestID == n.ID })
	p, ok := read[client.Prompt](n.Payload)
	switch {
	case n.Read || !ok || p.State != client.PromptStatePending:
		b.answered(n.ID)
	case i < 0:
		b.ask(p)
	}
}

// ask puts a question at its place by age.
func (b *Board) ask(p client.Prompt) {
	q := question{Prompt: p, chosen: map[int]bool{}}
	q.asked, _ = read[event.PromptRequestedPayload](p.Payload)
	switch q.asked.Kind {
	case event.PromptQuestion:
		q.choice, _ = read[event.Question](q.asked.Inner)
	case event.PromptStepDecision:
		q.step, _ = read[event.StepDecision](q.asked.Inner)
	}
	i := slices.IndexFunc(b.questions, func(x question) bool { return x.AskedAt.After(p.AskedAt) })
	if i < 0 {
		i = len(b.questions)
	}
	b.questions = slices.Insert(b.questions, i, q)
}

// answered drops a question that waits for nothing any more.
func (b *Board) answered(request client.RequestID) {
	if q := b.asks(); q != nil && q.RequestID == request && b.focus == onQuestion {
		b.focus, b.field = onBody, nil
	}
	b.questions = slices.DeleteFunc(b.questions, func(q question) bool { return q.RequestID == request })
}

// Answered takes what came of an answer.
func (b *Board) Answered(request client.RequestID, err error) {
	if err == nil {
		b.answered(request)
		return
	}
	for i := range b.questions {
		if b.questions[i].RequestID == request {
			b.questions[i].sending = false
		}
	}
	switch client.CodeOf(err) {
	case client.ProblemCodeAlreadyAnswered, client.ProblemCodePromptExpired, client.ProblemCodePromptCancelled:
		b.answered(request)
	}
	b.Fail("not answered", err)
}

// asks is the oldest question of the conversation that is shown; nil if there is none.
func (b *Board) asks() *question {
	for i := range b.questions {
		if b.questions[i].SessionID == b.open {
			return &b.questions[i]
		}
	}
	return nil
}

// asking counts the questions of a conversation.
func (b *Board) asking(session client.SessionID) (n int) {
	for _, q := range b.questions {
		if q.SessionID == session {
			n++
		}
	}
	return n
}

// optioned says whether there are options to choose from.
func (q *question) optioned() bool { return len(q.choice.Options) > 0 }

// lines draws what is asked.
func (b *Board) questionLines(q *question, width int) []line {
	var all []line
	for _, text := range screen.Asked(q.Payload) {
		all = append(all, wrapped(text, "", width)...)
	}
	if !q.optioned() {
		return all
	}
	all = wrapped(q.choice.Question, "", width)
	for i, o := range q.choice.Options {
		mark := "  "
		if i == q.at && b.focus == onQuestion {
			mark = "▸ "
		}
		number := strconv.Itoa(i+1) + " "
		if q.choice.Multi {
			number += map[bool]string{true: "[x] ", false: "[ ] "}[q.chosen[i]]
		}
		text := o.Label
		if o.Description != "" {
			text += ": " + o.Description
		}
		for j, part := range cells.Wrap(screen.Clean(text), width-cells.Width(mark+number)) {
			if j > 0 {
				mark, number = "  ", cells.Pad("", cells.Width(number))
			}
			all = append(all, line{{text: mark}, {number, b.options.Style.Cyan}, {text: part}})
		}
	}
	return all
}

// ways says by which keys a question is answered.
func (q *question) ways() string {
	switch q.asked.Kind {
	case event.PromptQuestion:
		ways := ""
		if q.optioned() {
			ways = "1-9 choose  "
			if q.choice.Multi {
				ways = "1-9 mark  Enter answer  "
			}
		}
		if q.choice.Custom() {
			ways += "t own words  "
		}
		return ways + "d decline"
	case event.PromptStepDecision:
		if q.step.AllowRetry {
			return "c continue  r retry  x give up"
		}
		return "c continue  x give up"
	}
	return "a allow  d deny  w deny, and say why"
}

// questionKey answers.
func (b *Board) questionKey(key string) []Effect {
	q := b.asks()
	if q == nil || q.sending {
		b.focus = onBody
		return nil
	}
	switch key {
	case "up", "k":
		q.move(-1)
		return nil
	case "down", "j":
		q.move(1)
		return nil
	case "esc":
		b.focus = onBody
		return nil
	}
	switch q.asked.Kind {
	case event.PromptQuestion:
		return b.choose(q, key)
	case event.PromptStepDecision:
		return b.decide(q, key)
	}
	return b.permit(q, key)
}

func (q *question) move(by int) {
	if q.optioned() {
		q.at = min(max(q.at+by, 0), len(q.choice.Options)-1)
		return
	}
	q.scroll = max(q.scroll+by, 0) // the panel knows where the end is
}

func (b *Board) permit(q *question, key string) []Effect {
	switch key {
	case "a", "y":
		return q.answer(client.PromptAnswerInput{Decision: client.PromptDecisionAllow})
	case "d", "n":
		return q.answer(client.PromptAnswerInput{Decision: client.PromptDecisionDeny})
	case "w":
		b.fieldFor(q, "Deny, because: ", func(_ *question, text string) client.PromptAnswerInput {
			return client.PromptAnswerInput{Decision: client.PromptDecisionDeny, Reason: text}
		})
	}
	return nil
}

func (b *Board) decide(q *question, key string) []Effect {
	switch {
	case key == "c":
		return q.answer(client.PromptAnswerInput{Decision: client.PromptDecisionContinue})
	case key == "r" && q.step.AllowRetry:
		return q.answer(client.PromptAnswerInput{Decision: client.PromptDecisionRetry})
	case key == "x":
		return q.answer(client.PromptAnswerInput{Decision: client.PromptDecisionCancel})
	}
	return nil
}

func (b *Board) choose(q *question, key string) []Effect {
	n, err := strconv.Atoi(key)
	switch {
	case err == nil && n >= 1 && n <= len(q.choice.Options):
		q.at = n - 1
		if !q.choice.Multi {
			return q.answer(q.response("", q.at))
		}
		q.chosen[q.at] = !q.chosen[q.at]
	case key == "space" && q.choice.Multi:
		q.chosen[q.at] = !q.chosen[q.at]
	case key == "enter" && q.optioned() && !q.choice.Multi:
		return q.answer(q.response("", q.at))
	case key == "enter" && len(q.marked()) > 0:
		return q.answer(q.response("", q.marked()...))
	case key == "t" && q.choice.Custom():
		b.fieldFor(q, "Answer: ", func(q *question, text string) client.PromptAnswerInput { return q.response(text, q.marked()...) })
	case key == "d":
		return q.answer(client.PromptAnswerInput{Decision: client.PromptDecisionDeny})
	}
	return nil
}

// marked are the options that were marked, in order.
func (q *question) marked() (all []int) {
	for i := range q.choice.Options {
		if q.chosen[i] {
			all = append(all, i)
		}
	}
	return all
}

func (q *question) response(custom string, options ...int) client.PromptAnswerInput {
	r := event.QuestionResponse{CustomText: custom}
	for _, i := range options {
		r.SelectedOptions = append(r.SelectedOptions, q.choice.Options[i].Label)
	}
	raw, err := event.Encode(r)
	if err != nil {
		raw = json.RawMessage("{}") // labels came as JSON, and text is text
	}
	return client.PromptAnswerInput{Decision: client.PromptDecisionAllow, Response: raw}
}

// answer sends an answer to what was shown: the digest of it goes along.
func (q *question) answer(in client.PromptAnswerInput) []Effect {
	q.sending = true
	in.Digest = q.Digest
	return []Effect{Answer{Run: q.TaskID, Request: q.RequestID, Input: in}}
}

// fieldFor asks for text that belongs to an answer; the question may be gone when it is typed.
func (b *Board) fieldFor(q *question, label string, input func(q *question, text string) client.PromptAnswerInput) {
	request := q.RequestID
	b.field = &field{label: label, then: func(text string) []Effect {
		now := b.asks()
		if now == nil || now.RequestID != request || text == "" {
			return nil
		}
		return now.answer(input(now, text))
	}}
}
