package runtime

import (
	"encoding/json"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Ask is a request of the agent: for permission to use a tool, or a prompt of another kind.
type Ask struct {
	ID   string           // the agent's own, unique within the turn for its kind
	Kind event.PromptKind // "" for permission

	Tool        string
	Input       json.RawMessage // an object
	Description string
	ToolCall    string // the agent's id of the call that waits; may be empty

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

func (s *serial) End(end End) ([]run.AgentEvent, run.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogue.End(end)
}
