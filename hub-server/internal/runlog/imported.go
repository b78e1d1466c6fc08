package runlog

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// NewImported is a run that an agent has had elsewhere. No edge ever gets it: its whole log is stored with it, from ImportedBegin to ImportedEnd.
func NewImported(session id.Session, agent fleet.Agent, by id.User, traceID string) (NewRun, error) {
	n, err := newRun(Request{Session: session, Agent: agent, RequestedBy: by, TraceID: traceID}, "", nil, now())
	if err != nil {
		return NewRun{}, err
	}
	n.Placement, n.Dispatch = Placement{}, json.RawMessage(`{}`)
	n.Frame, err = n.frame()
	return n, err
}

// ImportedBegin is the first event of such a run.
func ImportedBegin(at time.Time) (Entry, error) {
	return own(run.Candidate{Type: event.RunStarted, Payload: event.RunStartedPayload{StartedAt: at.UTC()}}, at)
}

// ImportedLine is the event of a line of the trace.
func ImportedLine(line []byte, at time.Time) (Entry, error) {
	return own(run.Candidate{Type: event.RunImported, Payload: event.ImportedPayload{Line: string(line)}}, at)
}

// ImportedEnd is the last event: the run ended as the trace did, for the reason that its last request has.
func ImportedEnd(stop omni.StopReason, why string, at time.Time) (Entry, error) {
	if end := (run.Candidate{Type: event.RunCancelled, Payload: event.RunCancelledPayload{ExternalStopConfirmed: true}}); stop == omni.Aborted {
		return own(end, at)
	}
	failure := event.ErrorObj{Code: fault.AgentError, Message: remark(why, maxReason)}
	switch stop {
	case omni.Completed:
		return own(run.Candidate{Type: event.RunCompleted, Payload: event.RunCompletedPayload{}}, at)
	case omni.Timeout:
		failure.Code = fault.Timeout
	case omni.Auth:
		failure.Code = fault.AuthRequired
	}
	if failure.Message == "" {
		failure.Message = "The last request of the trace has failed."
	}
	return own(run.Candidate{Type: event.RunFailed, Payload: event.RunFailedPayload{Error: failure}}, at)
}
