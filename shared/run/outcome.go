package run

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Outcome is how a run ends when its agent did not say so itself. Make one with Completed, Failed, Cancelled, Interrupted or ProcessEnded.
type Outcome struct {
	last    event.Type
	payload func(final id.Message) any // final is the last message that had any text, "" if none had
}

// Completed is a success that the process itself shows, such as exit 0 without a result.
func Completed() Outcome {
	return Outcome{event.RunCompleted, func(final id.Message) any { return event.RunCompletedPayload{MessageID: final} }}
}

// Failed is an error; code `timeout` is a run that took too long.
func Failed(err event.ErrorObj) Outcome {
	err = bounded(err)
	return Outcome{event.RunFailed, func(id.Message) any { return event.RunFailedPayload{Error: err} }}
}

// TimedOutWaiting is the end of a run whose process reached its turn limit while it asked a person (R21): the run next takes their answer to
// the agent.
func TimedOutWaiting(next id.Run) Outcome {
	err := event.ErrorObj{
		Code:    fault.Timeout,
		Message: fmt.Sprintf("The turn limit ended the agent's process while it waited for a person. It goes on in %s.", next),
	}
	return Outcome{event.RunFailed, func(id.Message) any { return event.RunFailedPayload{Error: err, ContinuedBy: next} }}
}

// Cancelled is the end of a run that somebody stopped. confirmed says that the whole process tree is known to be gone.
func Cancelled(confirmed bool) Outcome {
	return Outcome{event.RunCancelled, func(id.Message) any {
		return event.RunCancelledPayload{ExternalStopConfirmed: confirmed}
	}}
}

// Interrupted is the end of a run of which nobody knows how far it got.
func Interrupted(reason fault.Code) Outcome {
	return Outcome{event.RunInterrupted, func(id.Message) any { return event.RunInterruptedPayload{ReasonCode: reason} }}
}

// ProcessEnded is the end of a process at its turn limit while a person had not answered the pending requests: its run goes on waiting for
// that person (R21), and what becomes of it is the hub's to say.
func ProcessEnded(pending []id.Request) Outcome {
	return Outcome{event.RunProcessEnded, func(id.Message) any {
		return event.ProcessEndedPayload{Reason: event.EndedAtTurnLimit, Code: fault.Timeout, Pending: pending}
	}}
}
