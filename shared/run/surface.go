package run

import (
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Names of an outcome on the surfaces.
type (
	CloseStatus string // S0 card.close
	CloseError  string // S0 error type of a failed close; empty when the close has no fixed one
	StopReason  string // S1 stop_reason
)

// Ending is one row of the table of outcomes (R34): what every surface calls the same end of a run.
type Ending struct {
	State      State
	Code       fault.Code // of run.failed, "" for any other
	Terminal   event.Type
	Close      CloseStatus
	CloseError CloseError
	Stop       StopReason
	Frame      event.FrameType
	FrameCode  fault.Code // code in the frame's error; "" when the run's own code is shown, or none
}

// Endings returns the table, one row per final state and one for a run that took too long.
func Endings() []Ending {
	return []Ending{
		{State: StateCompleted, Terminal: event.RunCompleted, Close: "ok", Stop: "completed", Frame: event.FrameAgentDone},
		{State: StateFailed, Terminal: event.RunFailed, Close: "failed", Stop: "failed", Frame: event.FrameAgentFailed},
		{State: StateFailed, Code: fault.Timeout, Terminal: event.RunFailed, Close: "failed", Stop: "timeout",
			Frame: event.FrameAgentFailed, FrameCode: fault.Timeout},
		{State: StateCancelled, Terminal: event.RunCancelled, Close: "cancelled", Stop: "aborted", Frame: event.FrameAgentCancel},
		{State: StateInterrupted, Terminal: event.RunInterrupted, Close: "failed", CloseError: "orphan_timeout", Stop: "failed",
			Frame: event.FrameAgentFailed, FrameCode: fault.Interrupted},
	}
}

// EndingOf returns the row for a final state and, of a failed run, the code of its error; false while the run has not ended.
func EndingOf(s State, code fault.Code) (Ending, bool) {
	var found Ending
	ok := false
	for _, e := range Endings() {
		if e.State == s && (e.Code == "" || e.Code == code) {
			found, ok = e, true
		}
	}
	return found, ok
}
