package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

// messagePage answers with messages whose content is what people wrote: `<` stays `<`.
type messagePage MessageList

// VisitListMessagesResponse implements the generated answer.
func (p messagePage) VisitListMessagesResponse(w http.ResponseWriter) error { return writePlain(w, p) }

// VisitSyncMessagesResponse implements the generated answer.
func (p messagePage) VisitSyncMessagesResponse(w http.ResponseWriter) error { return writePlain(w, p) }

// changePage is messagePage for messages in the order of their changes.
type changePage MessageChangeList

// VisitListMessageChangesResponse implements the generated answer.
func (p changePage) VisitListMessageChangesResponse(w http.ResponseWriter) error {
	return writePlain(w, p)
}

func writePlain(w http.ResponseWriter, v any) error {
	body, err := plain(v)
	if err != nil {
		return err
	}
	return writeJSON(w, body)
}

// plain encodes v and leaves `<` as it is.
func plain(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return body.Bytes(), nil
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
	return splice(dst, envelope, e.Payload), nil
}

// splice appends an object with a payload as its last field.
func splice(dst, object []byte, payload json.RawMessage) []byte {
	dst = append(dst, bytes.TrimSuffix(object, []byte("}"))...)
	dst = append(dst, `,"payload":`...)
	dst = append(dst, payload...)
	return append(dst, '}')
}

// promptList answers with questions as they were asked, byte for byte.
type promptList struct {
	prompts []prompt.Prompt
	next    PageToken
}

// VisitListPromptsResponse implements the generated answer.
func (l promptList) VisitListPromptsResponse(w http.ResponseWriter) error { return l.write(w) }

// VisitListAgentTaskPromptsResponse implements the generated answer.
func (l promptList) VisitListAgentTaskPromptsResponse(w http.ResponseWriter) error { return l.write(w) }

func (l promptList) write(w http.ResponseWriter) error {
	body := []byte(`{"items":[`)
	for i, p := range l.prompts {
		if i > 0 {
			body = append(body, ',')
		}
		var err error
		if body, err = appendPrompt(body, p); err != nil {
			return err
		}
	}
	body = append(body, ']')
	if l.next != "" {
		body = fmt.Appendf(body, `,"next":%q`, l.next)
	}
	return writeJSON(w, append(body, '}'))
}

// onePrompt answers with one question.
type onePrompt prompt.Prompt

// VisitAnswerPromptResponse implements the generated answer.
func (p onePrompt) VisitAnswerPromptResponse(w http.ResponseWriter) error { return p.write(w) }

// VisitGetPromptResponse implements the generated answer.
func (p onePrompt) VisitGetPromptResponse(w http.ResponseWriter) error { return p.write(w) }

func (p onePrompt) write(w http.ResponseWriter) error {
	body, err := appendPrompt(nil, prompt.Prompt(p))
	if err != nil {
		return err
	}
	return writeJSON(w, body)
}

func appendPrompt(dst []byte, p prompt.Prompt) ([]byte, error) {
	object, err := plain(struct {
		Prompt
		Payload struct{} `json:"payload,omitzero"`
	}{Prompt: renderPrompt(p)})
	return splice(dst, bytes.TrimSpace(object), p.Payload), err
}
