package chat

import (
	"context"

	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// steeringMark is what the model sees before a text that a person says to it while it works (S1 "steering").
const steeringMark = "[user_steering]\n"

// talk is one turn of a conversation.
type talk struct {
	requests
	memory       memory
	conversation []message
	answer       string // the last one
	open         bool   // its message has not been ended
}

// forgetError says that an answer was given and could not be kept.
type forgetError struct{ error }

// take answers the turn, and then whatever a person has said meanwhile. Only what was answered is remembered: a question without an answer would
// confuse the next. The conversation is made shorter between an answer and what is said next, so that the next question is part of the new one.
func (t *talk) take(ctx context.Context, turn bridge.Turn) error {
	if turn.Compact {
		if err := t.makeShorter(ctx); err != nil {
			return err
		}
		if !t.hear() {
			return nil
		}
	} else {
		t.say(roleUser, turn.Message)
	}
	for again := true; again; again = t.hear() {
		answer, err := t.ask(ctx, t.conversation, t.hearMore)
		if err != nil {
			return err
		}
		t.answer, t.open = answer.text, answer.spoke
		t.say(roleAssistant, answer.text)
		if err := t.memory.save(t.conversation); err != nil {
			return forgetError{err}
		}
		if reason, due := t.due(); due {
			t.endMessage()
			if err := t.compact(ctx, reason, answer.size()); err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// endMessage ends the message of the answer: what is said next is none of it.
func (t *talk) endMessage() {
	if t.open {
		t.w.EndMessage()
	}
	t.open = false
}

func (t *talk) say(by role, text string) {
	t.conversation = append(t.conversation, message{Role: by, Content: text})
}

// hear takes what a person has said since the last request; false if there is nothing.
func (t *talk) hear() bool {
	before := len(t.conversation)
	t.conversation = t.hearMore(t.conversation)
	return len(t.conversation) > before
}

// hearMore adds it to a conversation that goes to the model at once.
func (t *talk) hearMore(conversation []message) []message {
	for _, said := range t.ear.Steers() {
		t.endMessage()
		t.w.Fact(event.SteerTaken, event.SteerTakenPayload{SteerID: said.SteerID})
		conversation = append(conversation, message{Role: roleUser, Content: steeringMark + said.Text})
	}
	t.conversation = conversation
	return conversation
}

// hearing is how a request that is made again takes what was said while the agent waited; nil where it does not.
type hearing func([]message) []message
