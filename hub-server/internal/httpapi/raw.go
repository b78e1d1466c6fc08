package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

// messagePage answers with messages whose content is what people wrote: `<` stays `<`.
type messagePage MessageList

// VisitListMessagesResponse implements the generated answer.
func (p messagePage) VisitListMessagesResponse(w http.ResponseWriter) error { return writePlain(w, p) }

// VisitSyncMessagesResponse implements the generated answer.
func (p messagePage) VisitSyncMessagesResponse(w http.ResponseWriter) error { return writePlain(w, p) }

func writePlain(w http.ResponseWriter, v any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return writeJSON(w, body.Bytes())
}

func writeJSON(w http.ResponseWriter, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(body)
	return err
}

// eventPage answers with events whose payloads are spliced in byte for byte: encoding them again would change them (architecture 5).
type eventPage runlog.EventPage

// VisitListAgentTaskEventsResponse implements the generated answer.
func (p eventPage) VisitListAgentTaskEventsResponse(w http.ResponseWriter) error {
	body := []byte(`{"items":[`)
	var err error
	for i, e := range p.Events {
		if i > 0 {
			body = append(body, ',')
		}
		if body, err = appendEvent(body, e); err != nil {
			return err
		}
	}
	body = append(body, ']')
	if n := len(p.Events); n > 0 && p.Events[n-1].Seq < p.Last {
		body = fmt.Appendf(body, `,"next":%d`, p.Events[n-1].Seq)
	}
	return writeJSON(w, fmt.Appendf(body, `,"last_event_seq":%d}`, p.Last))
}

// appendEvent writes a RunEvent with its payload as the last field, in place of the null that stands there when none is given.
func appendEvent(dst []byte, e runlog.StoredEvent) ([]byte, error) {
	envelope, err := json.Marshal(struct {
		RunEvent
		Payload struct{} `json:"payload,omitzero"`
	}{RunEvent: RunEvent{
		ID: EventID(e.ID), RunID: RunID(e.Run), EventSeq: int64(e.Seq), EventType: EventType(e.Type), WireType: EventType(e.WireType),
		OccurredAt: e.OccurredAt, RecordedAt: e.RecordedAt, PayloadChecksum: e.Checksum, Late: e.Late, TraceID: e.TraceID, SpanID: e.SpanID,
	}})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	dst = append(dst, bytes.TrimSuffix(envelope, []byte("}"))...)
	dst = append(dst, `,"payload":`...)
	dst = append(dst, e.Payload...)
	return append(dst, '}'), nil
}
