package runtime

import (
	"encoding/json"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Ask is a request of the agent: for permission to use a tool, a prompt of another kind, or the call of a tool that a client carries out.
type Ask struct {
	ID   string           // the agent's own, unique within the turn for its kind; of a call of a client's tool it may be ""
	Kind event.PromptKind // "" for permission

	Tool        string
	Input       json.RawMessage // an object
	Description string
	ToolCall    string // the agent's id of the call that waits; may be empty. Of a client's tool: the call's id in the log

	reply func(event.ClientToolResponse) // of a client's tool that was not called in a line: takes the answer at once

	Inner     json.RawMessage // what a prompt of another kind asks; it holds event.CheckInner
	TimeoutMS int64           // how long it waits for an answer; 0 for no limit

	Agent event.SubAgent // that asks; "" for the run's own
}

// Answer is the answer to an Ask.
type Answer struct {
	ID           string           // of the Ask
	Kind         event.PromptKind // too
	Decision     event.Decision
	UpdatedInput json.RawMessage // with allow, and only if whoever decided changed the input
	Response     json.RawMessage // of another kind: what comes beside the decision
	Message      string          // why, or what the person adds

	Tool   string                   // of a client's tool: its name
	Result event.ClientToolResponse // and how the call has ended
}

// no is how a request is turned down that nobody decides about.
func no(kind event.PromptKind) event.Decision {
	if kind == event.PromptStepDecision {
		return event.GiveUp
	}
	return event.Deny
}

// serial is a Dialogue that two goroutines talk to: the one that reads the agent, and the one that brings a person's answer.
type serial struct {
	mu       sync.Mutex
	dialogue Dialogue
}

func (s *serial) Begin() Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogue.Begin()
}

func (s *serial) Line(line []byte) Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogue.Line(line)
}

func (s *serial) Answer(a Answer) Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogue.Answer(a)
}

func (s *serial) Control(o wire.ControlOrder) Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogue.Control(o)
}

func (s *serial) End(end End) ([]run.AgentEvent, run.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogue.End(end)
}
