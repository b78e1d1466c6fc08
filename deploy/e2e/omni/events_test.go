package omni

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// teller makes a tale of the events of runs, one run after the other: as they are in the log, and as S2 and S3 tell them.
type teller struct {
	tale
	said    map[id.Message]string // what has come of a message
	asked   map[id.Request]event.PromptRequestedPayload
	stopped bool // somebody has asked for the end of the run
}

func newTeller() *teller {
	return &teller{said: map[id.Message]string{}, asked: map[id.Request]event.PromptRequestedPayload{}}
}

// happened takes the next event of the turn at hand. The error is for a payload that cannot be read.
func (t *teller) happened(e event.Type, payload json.RawMessage) error {
	takes := map[event.Type]func(json.RawMessage) error{
		event.MessageDelta: t.delta, event.MessageDone: t.message, event.Thinking: t.thought,
		event.ToolStarted: t.toolStarted, event.ToolCompleted: t.toolCompleted, event.ToolFailed: t.toolFailed,
		event.PromptRequested: t.prompt, event.PromptAnswered: t.answer, event.TaskStarted: t.task,
	}
	switch e {
	case event.RunStarted:
		t.stopped = false
	case event.RunCancelling:
		t.stopped = true
	}
	if take := takes[e]; take != nil {
		if err := take(payload); err != nil {
			return fmt.Errorf("%s %s: %w", e, payload, err)
		}
	}
	return nil
}

// over is the end of the turn at hand.
func (t *teller) over(e event.Type) {
	outcomes := map[event.Type]string{event.RunCompleted: completed, event.RunFailed: failed, event.RunInterrupted: failed, event.RunCancelled: aborted}
	if outcome := outcomes[e]; outcome != "" {
		t.now().outcome = outcome
	}
}

func (t *teller) delta(payload json.RawMessage) error {
	var p event.DeltaPayload
	err := json.Unmarshal(payload, &p)
	t.said[p.MessageID] += p.Delta
	t.now().piece(string(p.AgentID), says, p.Delta)
	return err
}

func (t *teller) message(payload json.RawMessage) error {
	var p event.MessageCompletedPayload
	err := json.Unmarshal(payload, &p)
	rest, _ := strings.CutPrefix(p.Content, t.said[p.MessageID])
	t.now().piece(string(p.AgentID), says, rest)
	t.now().ended(string(p.AgentID))
	return err
}

func (t *teller) thought(payload json.RawMessage) error {
	var p event.DeltaPayload
	err := json.Unmarshal(payload, &p)
	t.now().piece(string(p.AgentID), thinks, p.Delta)
	return err
}

func (t *teller) toolStarted(payload json.RawMessage) error {
	var p event.ToolStartedPayload
	err := json.Unmarshal(payload, &p)
	t.now().call(string(p.AgentID), p.ToolCallID, p.ToolName, p.Arguments)
	return err
}

func (t *teller) toolCompleted(payload json.RawMessage) error {
	var p event.ToolCompletedPayload
	err := json.Unmarshal(payload, &p)
	t.now().returned(string(p.AgentID), p.ToolCallID, well, plain(p.Result))
	return err
}

func (t *teller) toolFailed(payload json.RawMessage) error {
	var p event.ToolFailedPayload
	err := json.Unmarshal(payload, &p)
	how := failed
	if p.Error.Code == fault.Cancelled || p.Error.Code == fault.RunEnded && t.stopped {
		how = stopped
	}
	t.now().returned(string(p.AgentID), p.ToolCallID, how, p.Error.Message)
	return err
}

func (t *teller) prompt(payload json.RawMessage) error {
	var p event.PromptRequestedPayload
	err := json.Unmarshal(payload, &p)
	t.asked[p.RequestID] = p
	return err
}

func (t *teller) answer(payload json.RawMessage) error {
	var p event.PromptAnsweredPayload
	err := json.Unmarshal(payload, &p)
	if of := t.asked[p.RequestID]; of.Kind == event.PromptPermission {
		t.now().decided(string(of.AgentID), of.ToolCallID, p.Decision == event.Allow)
	}
	return err
}

func (t *teller) task(payload json.RawMessage) error {
	var p event.TaskStartedPayload
	err := json.Unmarshal(payload, &p)
	t.now().add(string(p.AgentID), isTold, p.TaskPrompt)
	return err
}
