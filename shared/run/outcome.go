package run

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Outcome is how a run ends when its agent did not say so itself. Make one with Completed, Failed, Cancelled, Interrupted, ProcessEnded or
// Continued.
type Outcome struct {
	last    event.Type
	payload func(sofar) any
}

// sofar is what an outcome says of the run up to it.
type sofar struct {
	final id.Message      // the last message that had any text, "" if none had
	why   event.EndReason // the process ended before the run did
}

// cut is the reason for which what is open at the outcome ends (R34): none where all went well. why is that of a process that ended before.
func (o Outcome) cut(why event.EndReason) event.RequestStatus {
	if o.last == event.RunProcessEnded {
		if p, ok := o.payload(sofar{why: why}).(event.ProcessEndedPayload); ok && p.Code == fault.Timeout {
			return event.RequestTimeout
		}
		return event.RequestFailed
	}
	var code fault.Code
	if p, ok := o.payload(sofar{why: why}).(event.RunFailedPayload); ok {
		code = p.Error.Code
	}
	for _, row := range slices.Backward(Endings()) {
		if row.Terminal == o.last && (row.Code == "" || row.Code == code) && row.Stop != StopReason(event.RequestCompleted) {
			return event.RequestStatus(row.Stop)
		}
	}
	return ""
}

// Completed is a success that the process itself shows, such as exit 0 without a result.
func Completed() Outcome {
	return Outcome{event.RunCompleted, func(s sofar) any { return event.RunCompletedPayload{MessageID: s.final} }}
}

// Failed is an error; code `timeout` is a run that took too long.
func Failed(err event.ErrorObj) Outcome {
	err = bounded(err)
	return Outcome{event.RunFailed, func(sofar) any { return event.RunFailedPayload{Error: err} }}
}

// Continued is the end of a run whose process ended while it asked people (R21): the run next takes their answers to the agent.
func Continued(next id.Run) Outcome {
	return Outcome{event.RunFailed, func(s sofar) any {
		return event.RunFailedPayload{
			Error:       event.ErrorObj{Code: s.why.Code(), Message: fmt.Sprintf("%s It goes on in %s.", endOfProcess(s.why), next)},
			ContinuedBy: next,
		}
	}}
}

func endOfProcess(why event.EndReason) string {
	switch why {
	case event.EndedWithEdge:
		return "The edge was stopped while the agent waited for a person."
	case event.EndedUnseen:
		return "The agent's process was lost while it waited for a person."
	}
	return "The turn limit ended the agent's process while it waited for a person."
}

// Cancelled is the end of a run that somebody stopped. confirmed says that the whole process tree is known to be gone.
func Cancelled(confirmed bool) Outcome {
	return Outcome{event.RunCancelled, func(sofar) any {
		return event.RunCancelledPayload{ExternalStopConfirmed: confirmed}
	}}
}

// Interrupted is the end of a run of which nobody knows how far it got.
func Interrupted(reason fault.Code) Outcome {
	return Outcome{event.RunInterrupted, func(sofar) any { return event.RunInterruptedPayload{ReasonCode: reason} }}
}

// ProcessEnded is the end of a process that is not known to have got people's answers to the pending requests: its run goes on waiting for
// them (R21), and what becomes of it is the hub's to say.
func ProcessEnded(why event.EndReason, pending []id.Request) Outcome {
	return Outcome{event.RunProcessEnded, func(sofar) any {
		return event.ProcessEndedPayload{Reason: why, Code: why.Code(), Pending: pending}
	}}
}
