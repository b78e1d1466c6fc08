package run

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// State is where a run stands in its life (architecture 10).
type State string

// States of a run. The last four are final.
const (
	StateQueued        State = "queued"         // nobody has asked an edge yet
	StateWaitingEdge   State = "waiting_edge"   // no edge that can run it is online
	StateDispatched    State = "dispatched"     // a start command is on its way or taken
	StateRunning       State = "running"        // the agent process works
	StateWaitingPerson State = "waiting_person" // the agent has asked a person
	StateCancelling    State = "cancelling"     // a stop was asked for
	StateCompleted     State = "completed"
	StateFailed        State = "failed"
	StateCancelled     State = "cancelled"
	StateInterrupted   State = "interrupted"
)

// ParseState reads the stored form of a state.
func ParseState(s string) (State, error) {
	switch st := State(s); st {
	case StateQueued, StateWaitingEdge, StateDispatched, StateRunning, StateWaitingPerson, StateCancelling, StateCompleted, StateFailed, StateCancelled, StateInterrupted:
		return st, nil
	}
	return "", fmt.Errorf("unknown run state %.40q", s)
}

// Ended says whether s is final.
func (s State) Ended() bool {
	switch s {
	case StateCompleted, StateFailed, StateCancelled, StateInterrupted:
		return true
	}
	return false
}

// Phase is the stretch of a run's life that the state belongs to.
func (s State) Phase() event.Phase {
	switch {
	case s.Ended():
		return event.Over
	case s == StateCancelling:
		return event.Stopping
	case s == StateRunning || s == StateWaitingPerson:
		return event.Working
	}
	return event.Before
}

// Dispatchable says whether a start command may be sent now.
func (s State) Dispatchable() bool { return s == StateQueued || s == StateWaitingEdge }

// Verdict says how a committed event is stored. Nothing is ever refused: an event is a fact.
type Verdict uint8

// Verdicts of Advance.
const (
	Ignore      Verdict = iota // stored as it is; the state stays
	Apply                      // stored as it is; the state moves to the returned one
	Late                       // stored with late: true; the run has ended
	LateOutcome                // stored as run.late_outcome with late: true; the run has had its outcome
)

// Advance judges the next event of a run that is in state s. The first terminal wins, in cancelling too. Content and unknown events
// change nothing. pending counts the prompts of the run that wait for a person once the event has happened; only events of prompts look at it.
func Advance(s State, t event.Type, pending int) (State, Verdict) {
	switch {
	case s.Ended() && t.Terminal():
		return s, LateOutcome
	case s.Ended():
		return s, Late
	}
	next := step(s, t, pending)
	if next == s {
		return s, Ignore
	}
	return next, Apply
}

func step(s State, t event.Type, pending int) State {
	switch t {
	case event.RunStarted:
		if s == StateQueued || s == StateWaitingEdge || s == StateDispatched {
			return StateRunning
		}
	case event.RunCancelling:
		return StateCancelling
	case event.RunCompleted:
		return StateCompleted
	case event.RunFailed:
		return StateFailed
	case event.RunCancelled:
		return StateCancelled
	case event.RunInterrupted:
		return StateInterrupted
	}
	return wait(s, t, pending)
}

// wait is the part of step that is about a person: the run waits as long as any prompt does, and one whose process was ended at its turn limit
// waits for whatever follows from the answer (R21).
func wait(s State, t event.Type, pending int) State {
	switch t {
	case event.PromptRequested, event.PromptAnswered, event.PromptExpired:
		switch {
		case s == StateRunning && pending > 0:
			return StateWaitingPerson
		case s == StateWaitingPerson && pending == 0:
			return StateRunning
		}
	case event.RunProcessEnded:
		if s != StateCancelling {
			return StateWaitingPerson
		}
	}
	return s
}
