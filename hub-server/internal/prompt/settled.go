package prompt

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// SettledError refuses an answer that comes after another one, or after the end of its time or its run. It is a fault, and says what was recorded.
type SettledError struct {
	Prompt Prompt
	fault  *fault.Fault
}

func (e *SettledError) Error() string { return e.fault.Error() }

// Unwrap returns the fault: AlreadyAnswered, PromptExpired or PromptCancelled.
func (e *SettledError) Unwrap() error { return e.fault }

// settled compares an answer with what was recorded: nil when it says the same.
func (r Reply) settled(recorded Prompt) error {
	a := recorded.Answer
	if a == nil {
		return &SettledError{recorded, recorded.State.gone()}
	}
	if a.Decision == r.Decision && a.Reason == r.Reason && sameValue(a.UpdatedInput, r.UpdatedInput) &&
		sameValue(a.Response, r.Response) {
		return nil
	}
	who := string(a.User)
	if a.By != event.Person {
		who = "the " + string(a.By)
	}
	return &SettledError{recorded, fault.New(fault.AlreadyAnswered,
		"The request was answered before: %s, by %s at %s. That answer stands.", a.Decision, who, a.At.UTC().Format(time.RFC3339))}
}

// gone is the refusal of an answer that nobody waits for.
func (s State) gone() *fault.Fault {
	if s == Expired {
		return fault.New(fault.PromptExpired, "The time for this answer is over, and the agent was told so.")
	}
	return fault.New(fault.PromptCancelled, "The run is over: nobody waits for this answer any more.")
}

// sameValue compares JSON values by what they mean.
func sameValue(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	first, errA := event.Canonical(a)
	second, errB := event.Canonical(b)
	return errA == nil && errB == nil && string(first) == string(second)
}
