package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// notice is a question as notification.new carries it: what REST shows of it, but for what becomes of an answer later.
type notice struct {
	Request   id.Request       `json:"request_id"`
	Run       id.Run           `json:"task_id"`
	Session   id.Session       `json:"session_id"`
	Agent     id.Agent         `json:"agent_id"`
	Edge      id.Edge          `json:"edge_id,omitempty"`
	Kind      event.PromptKind `json:"kind"`
	State     State            `json:"state"`
	Digest    string           `json:"digest"`
	Seq       runlog.EventSeq  `json:"event_seq"`
	AskedAt   time.Time        `json:"asked_at"`
	ExpiresAt *time.Time       `json:"expires_at,omitempty"`
	Answer    *noticeAnswer    `json:"answer,omitempty"`
}

type noticeAnswer struct {
	Decision     event.Decision  `json:"decision"`
	By           event.Decider   `json:"by"`
	User         id.User         `json:"user_id,omitempty"`
	Device       id.Device       `json:"device_id,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
	Response     json.RawMessage `json:"response,omitempty"`
	At           time.Time       `json:"answered_at"`
}

// notification is the payload of notification.new (R20) without its own `payload`, which is a notice.
type notification struct {
	ID        id.Request `json:"id"`
	Type      string     `json:"type"`
	Read      bool       `json:"read"` // there is nothing left to do
	CreatedAt time.Time  `json:"created_at"`
}

// Notification returns the payload of notification.new that tells what the event by has made of a question: opened, answered, expired or
// cancelled. It is a function of what never changes, so the same event gives the same bytes, on every hub and every device.
func Notification(p Prompt, by runlog.StoredEvent) ([]byte, error) {
	n := notice{
		Request: p.ID, Run: p.Run, Session: p.Session, Agent: p.Agent, Edge: p.Edge, Kind: p.Kind, Digest: p.Digest, Seq: p.Seq,
		AskedAt: p.AskedAt.UTC(),
	}
	if !p.ExpiresAt.IsZero() {
		at := p.ExpiresAt.UTC()
		n.ExpiresAt = &at
	}
	if err := n.settle(by); err != nil {
		return nil, fmt.Errorf("read %s %d of %s: %w", by.Type, by.Seq, by.Run, err)
	}
	body, err := event.Encode(n)
	if err != nil {
		return nil, fmt.Errorf("encode notice: %w", err)
	}
	head, err := event.Encode(notification{ID: p.ID, Type: "prompt", Read: n.State != Pending, CreatedAt: n.AskedAt})
	if err != nil {
		return nil, fmt.Errorf("encode notification: %w", err)
	}
	return withPayload(head, withPayload(body, p.Payload)), nil
}

// settle says what the event has made of the question.
func (n *notice) settle(by runlog.StoredEvent) error {
	switch by.Type {
	case event.PromptRequested:
		n.State = Pending
	case event.PromptExpired:
		n.State = Expired
	case event.PromptAnswered:
		var a event.PromptAnsweredPayload
		if err := json.Unmarshal(by.Payload, &a); err != nil {
			return err
		}
		n.State, n.Answer = Answered, &noticeAnswer{
			Decision: a.Decision, By: a.By, User: a.UserID, Device: a.DeviceID, Reason: a.Reason, UpdatedInput: a.UpdatedInput,
			Response: a.Response, At: by.RecordedAt.UTC(),
		}
	default:
		n.State = Cancelled
	}
	return nil
}

// withPayload puts bytes behind the fields of an object as they are.
func withPayload(object, payload []byte) []byte {
	return slices.Concat(object[:len(object)-1], []byte(`,"payload":`), payload, []byte("}"))
}
