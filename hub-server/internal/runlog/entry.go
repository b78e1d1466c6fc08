package runlog

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Entry is an event on its way into a run's log: encoded, hashed and read, without a number. Nothing is left to do for a transaction but
// to store it.
type Entry struct {
	ID          id.Event
	Type        event.Type
	WireType    event.WireType
	OccurredAt  time.Time
	Body        Body
	TraceID     string           // 32 hex; "" takes the run's
	SpanID      string           // 16 hex; "" takes event.SpanOf
	ProducerSeq wire.ProducerSeq // 0 for an event of the hub's own

	// What the payload says that the hub acts on.
	Said     *Said           // message.completed with a text
	Artifact *Artifact       // artifact.created that can be listed
	Failure  *event.ErrorObj // run.failed
	Final    id.Message      // run.completed: the message with the final text
	Prompt   promptNote      // of an event about a question to a person
	Outcome  *Body           // of a terminal: what is stored instead when the run has had its outcome (run.late_outcome)
	Blobs    []BlobHash      // bytes that the payload names
}

// Body is a payload's final bytes and the hash of their canonical form.
type Body struct {
	Payload  json.RawMessage
	Checksum string // hex SHA-256
}

// Said is a whole message of the agent.
type Said struct {
	Message id.Message
	Text    string
	blob    BlobHash // holds the text instead, until Lanes has read it
}

// maxSaid bounds the text that becomes a message of the conversation, in bytes; the log keeps all of it.
const maxSaid = 256 << 10

// own returns an event of the hub's own, which happens at now.
func own(c run.Candidate, now time.Time) (Entry, error) {
	payload, err := c.Encode()
	if err != nil {
		return Entry{}, fmt.Errorf("encode %s: %w", c.Type, err)
	}
	e := Entry{ID: id.NewEvent(), Type: c.Type, WireType: event.WireOf(c.Type, payload), OccurredAt: now}
	err = e.fill(payload)
	return e, err
}

// fill hashes and reads the payload.
func (e *Entry) fill(payload json.RawMessage) (err error) {
	if e.Body, err = newBody(payload); err != nil {
		return err
	}
	if e.Type.Terminal() {
		late, err := event.Encode(event.LateOutcomePayload{Type: e.Type, Payload: payload})
		if err != nil {
			return fmt.Errorf("encode late outcome: %w", err)
		}
		body, err := newBody(late)
		if err != nil {
			return err
		}
		e.Outcome = &body
	}
	e.read()
	return nil
}

func newBody(payload json.RawMessage) (Body, error) {
	sum, err := event.Checksum(payload)
	return Body{Payload: payload, Checksum: sum}, err
}
