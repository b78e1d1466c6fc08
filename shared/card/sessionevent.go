package card

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Opening is what session events say of where they belong. What is not known yet is empty (facts 0.8).
type Opening struct {
	Session id.Session
	Trace   id.Trace
}

// Tell makes a session event: inner is the struct of its kind. It belongs to a connection, so that it has no number of the trace.
func (o Opening) Tell(at time.Time, kind SessionKind, inner any) Event {
	severity := Info
	switch kind {
	case SessionError:
		severity = Error
	case ResumeFailed:
		severity = Warn
	}
	return Event{
		Type: SessionEvent,
		Envelope: Envelope{
			EventID: id.NewEvent(), SessionID: o.Session, TraceID: o.Trace, Timestamp: at, AgentID: MainAgent, AgentRole: SystemRole, Severity: severity,
		},
		Payload: raw(SessionPayload{Kind: kind, Inner: raw(inner)}),
	}
}

// Fail is Tell of an error.
func (o Opening) Fail(at time.Time, e ErrorInfo) Event {
	return o.Tell(at, SessionError, ErrorInner{Error: e})
}
