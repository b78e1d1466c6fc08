package sqlstore

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// The figures of promise P11.
const (
	p11Clients = 8
	p11AtOnce  = 25 // questions that are open together
)

// said is an answer to a question as one client gave it, learnt what it learnt of it.
type said struct {
	request  id.Request
	decision event.Decision
	reason   string
}

// firstAnswer is what a question is: it keeps the first answer, and tells it to everybody.
func firstAnswer() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byRequest := map[id.Request][]porcupine.Operation{}
			for _, op := range history {
				request := op.Input.(said).request
				byRequest[request] = append(byRequest[request], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byRequest {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return said{} },
		Step: func(state, input, output any) (bool, any) {
			if state == (said{}) {
				state = input
			}
			return state == output, state
		},
	}
}

// P11. Every client answers every question, all at once, each in its own words.
func TestP11AnswersAtOnceAreLinearizable(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		began := time.Now()
		var mu sync.Mutex
		var history []porcupine.Operation
		for range *questions / p11AtOnce {
			var open []id.Request
			for range p11AtOnce {
				open = append(open, a.wonder(event.Person, `{}`))
			}
			a.j.flush(t, a.record)
			var clients sync.WaitGroup
			for c := range p11Clients {
				clients.Go(func() {
					for i := range open {
						in := said{open[(i+c)%len(open)], []event.Decision{event.Allow, event.Deny}[c%2], fmt.Sprint("client ", c)}
						call := time.Since(began)
						out, err := a.learn(in)
						if err != nil {
							t.Errorf("answer: %v", err)
							return
						}
						mu.Lock()
						history = append(history, porcupine.Operation{
							ClientId: c, Input: in, Call: call.Nanoseconds(), Output: out, Return: time.Since(began).Nanoseconds(),
						})
						mu.Unlock()
					}
				})
			}
			clients.Wait()
		}
		t.Logf("figure: P11: %d answers to %d questions", len(history), *questions)
		if len(history) != *questions*p11Clients || !porcupine.CheckOperations(firstAnswer(), history) {
			t.Errorf("%d answers are not linearizable", len(history))
		}
		if got := len(a.answers()); got != *questions {
			t.Errorf("%d commands for %d questions", got, *questions)
		}
		log := map[event.Type]int{}
		for _, e := range a.logOf(t, a.n.ID) {
			log[e.Type]++
		}
		if log[event.PromptAnswered] != *questions {
			t.Errorf("%d answers in the log, want %d", log[event.PromptAnswered], *questions)
		}
	})
}

// learn answers a question and returns the answer that stands.
func (a *asker) learn(in said) (said, error) {
	p, err := a.prompts.Answer(a.t.Context(), a.ada, prompt.Reply{Run: a.n.ID, Answer: wire.Answer{
		RequestID: in.request, Decision: in.decision, Reason: in.reason,
	}})
	var settled *prompt.SettledError
	if errors.As(err, &settled) {
		p, err = settled.Prompt, nil
	}
	if err != nil {
		return said{}, err
	}
	return said{in.request, p.Answer.Decision, p.Answer.Reason}, nil
}

// The positive control: a client that is told its own answer though another one stands is seen.
func TestP11AnAnswerThatIsToldWronglyIsSeen(t *testing.T) {
	first, second := said{"req_1", event.Allow, "first"}, said{"req_1", event.Deny, "second"}
	for told, want := range map[said]bool{first: true, second: false} {
		history := []porcupine.Operation{
			{ClientId: 0, Input: first, Call: 1, Output: first, Return: 2},
			{ClientId: 1, Input: second, Call: 3, Output: told, Return: 4},
		}
		if got := porcupine.CheckOperations(firstAnswer(), history); got != want {
			t.Errorf("told %v: linearizable %v", told, got)
		}
	}
}
