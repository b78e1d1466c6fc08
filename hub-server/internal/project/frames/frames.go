// Package frames projects committed rows of the outbox to frames of /client/ws (S3 hub plane). It is a pure function of the record:
// the same row gives the same bytes, on every hub and after every restart.
package frames

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// The types here that are not about runs.
const (
	frameMessageNew      event.FrameType = "message.new"
	frameNotificationNew event.FrameType = "notification.new"
)

// Header is what all frames of a run say; it never changes.
type Header struct {
	Run     id.Run
	Session id.Session
	Agent   id.Agent
	TraceID string // 32 hex
}

// stream is the payload of agent.stream (S3): one event of a run's log.
type stream struct {
	ID        id.Event        `json:"id"`
	Task      id.Run          `json:"task_id"`
	Session   id.Session      `json:"session_id"`
	Agent     id.Agent        `json:"agent_instance_id"`
	Edge      id.Edge         `json:"edge_id,omitempty"`
	Seq       runlog.EventSeq `json:"event_seq"`
	Type      event.WireType  `json:"event_type"`
	Payload   string          `json:"payload"` // the stored bytes, as they are
	CreatedAt time.Time       `json:"created_at"`
	Late      bool            `json:"late,omitempty"`
	TraceID   string          `json:"traceId"`
}

// outcome is the payload of agent.done, agent.failed and agent.cancel.
type outcome struct {
	Task        id.Run      `json:"task_id"`
	Agent       id.Agent    `json:"agent_instance_id"`
	Session     id.Session  `json:"session_id"`
	Error       *frameError `json:"error,omitempty"`
	TriggeredBy id.User     `json:"triggered_by,omitempty"`
}

type frameError struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// Stream returns the agent.stream frame of an event.
func Stream(h Header, e runlog.StoredEvent) (delivery.Body, error) {
	trace, err := event.FormatTraceID(h.TraceID)
	if err != nil {
		return delivery.Body{}, fmt.Errorf("trace of %s: %w", h.Run, err)
	}
	return body(event.FrameAgentStream, stream{
		ID: e.ID, Task: h.Run, Session: h.Session, Agent: h.Agent, Edge: e.Edge, Seq: e.Seq, Type: e.WireType,
		Payload: string(e.Payload), CreatedAt: e.RecordedAt.UTC(), Late: e.Late, TraceID: trace,
	})
}

// Outcome returns the frame that tells how a run ended, by the table of outcomes (ruling R34); false for an event that is no outcome.
// cancelledBy is empty unless a person stopped the run.
func Outcome(h Header, e runlog.StoredEvent, cancelledBy id.User) (delivery.Body, bool, error) {
	if e.Late || !e.Type.Terminal() {
		return delivery.Body{}, false, nil
	}
	failure, err := failureOf(e)
	if err != nil {
		return delivery.Body{}, false, err
	}
	ending := endingOf(e.Type, failure)
	out := outcome{Task: h.Run, Agent: h.Agent, Session: h.Session}
	switch ending.Frame {
	case event.FrameAgentFailed:
		if ending.FrameCode != "" {
			failure.Code = ending.FrameCode
		}
		out.Error = failure
	case event.FrameAgentCancel:
		out.TriggeredBy = cancelledBy
	}
	b, err := body(ending.Frame, out)
	return b, err == nil, err
}

// endingOf finds the row of the table by the terminal and, of a failure, its code.
func endingOf(terminal event.Type, failure *frameError) run.Ending {
	var found run.Ending
	for _, row := range run.Endings() {
		if row.Terminal == terminal && (row.Code == "" || failure != nil && row.Code == failure.Code) {
			found = row
		}
	}
	return found
}

// failureOf reads what went wrong; nil for an outcome that is no failure.
func failureOf(e runlog.StoredEvent) (*frameError, error) {
	switch e.Type {
	case event.RunFailed:
		var p event.RunFailedPayload
		err := read(e, &p)
		return &frameError{Code: p.Error.Code, Message: p.Error.Message}, err
	case event.RunInterrupted:
		var p event.RunInterruptedPayload
		err := read(e, &p)
		return &frameError{
			Code:    fault.Interrupted,
			Message: fmt.Sprintf("The run was cut off and nobody knows how far its last step got (%s).", p.ReasonCode),
		}, err
	}
	return nil, nil
}

func read(e runlog.StoredEvent, payload any) error {
	if err := json.Unmarshal(e.Payload, payload); err != nil {
		return fmt.Errorf("read %s %d of %s: %w", e.Type, e.Seq, e.Run, err)
	}
	return nil
}

// body encodes a payload with `<`, `>` and `&` as they are.
func body(t event.FrameType, payload any) (delivery.Body, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(payload); err != nil {
		return delivery.Body{}, fmt.Errorf("encode %s: %w", t, err)
	}
	return delivery.Body{Type: t, Payload: bytes.TrimSuffix(buf.Bytes(), []byte("\n"))}, nil
}
