// Package archive is the form in which the log of an ended run leaves the store: a file per stretch of a log, byte for byte what was stored.
//
// A file is gzip over lines. The first is the Header. Each event is a line with everything but its payload, followed by the payload, as many
// bytes as the line says, and a line end. The last line has the number of events and the SHA-256 of every byte before it. Nothing in a file
// depends on when or by whom it was written: the same stretch gives the same content, so that writing it again is harmless.
package archive

import (
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Format is the number of the form that this program writes, and the highest that it reads.
const Format = 1

// Limits of what is read.
const (
	maxLine    = 64 << 10
	maxPayload = 64 << 20 // an event that an edge may send has 256 KiB
)

// Faults of a file.
var (
	// ErrDamaged means that the file is not, or no longer, what was written.
	ErrDamaged = errors.New("the archive is damaged or incomplete")
	// ErrNewer means that a newer program wrote it.
	ErrNewer = errors.New("the archive was written by a newer hub-server; read it with that version")
)

// Header says what a file holds: the events From to To of a run, and what a projection of them has to know of it.
type Header struct {
	Format        int             `json:"switchyard_archive"`
	Epoch         wire.Epoch      `json:"epoch"` // the life of the store in which these numbers hold
	Run           id.Run          `json:"run_id"`
	Session       id.Session      `json:"session_id"`
	Agent         id.Agent        `json:"agent_id"`
	AgentChecksum string          `json:"agent_snapshot_checksum"`
	From          runlog.EventSeq `json:"from_seq"`
	To            runlog.EventSeq `json:"to_seq"`
}

func (h Header) check() error {
	if _, err := id.ParseRun(string(h.Run)); err != nil {
		return err
	}
	if h.From == 0 || h.To < h.From {
		return fmt.Errorf("it claims to hold the events %d to %d", h.From, h.To)
	}
	return nil
}

// File is the name of the file with such a stretch, without a folder.
func (h Header) File() string {
	return fmt.Sprintf("%s.%d-%d.%s.archive", h.Run, h.From, h.To, h.Epoch)
}

// Event is an event with its place in the order of its conversation.
type Event struct {
	runlog.StoredEvent
	Place int64
}

// Summary is what is known of a whole file.
type Summary struct {
	Events  int64  `json:"events"`
	Payload int64  `json:"payload_bytes"` // of all events
	SHA256  string `json:"sha256"`        // of the content before the last line, not compressed
}

// line is an event but for its payload.
type line struct {
	Seq         runlog.EventSeq  `json:"seq"`
	Place       int64            `json:"place"`
	ID          id.Event         `json:"event_id"`
	Type        event.Type       `json:"event_type"`
	WireType    event.WireType   `json:"wire_type"`
	OccurredAt  int64            `json:"occurred_at_us"`
	RecordedAt  int64            `json:"recorded_at_us"`
	Checksum    string           `json:"payload_checksum"`
	Schema      int              `json:"schema_version"`
	TraceID     string           `json:"trace_id"`
	SpanID      string           `json:"span_id,omitempty"`
	Late        bool             `json:"late,omitempty"`
	Edge        id.Edge          `json:"edge_id,omitempty"`
	ProducerSeq wire.ProducerSeq `json:"producer_seq,omitempty"`
	Payload     int              `json:"payload_bytes"`
}

func lineOf(e Event) line {
	return line{
		Seq: e.Seq, Place: e.Place, ID: e.ID, Type: e.Type, WireType: e.WireType, OccurredAt: e.OccurredAt.UnixMicro(),
		RecordedAt: e.RecordedAt.UnixMicro(), Checksum: e.Checksum, Schema: e.Schema, TraceID: e.TraceID, SpanID: e.SpanID, Late: e.Late,
		Edge: e.Edge, ProducerSeq: e.ProducerSeq, Payload: len(e.Payload),
	}
}

func (l line) event(run id.Run, payload []byte) Event {
	return Event{Place: l.Place, StoredEvent: runlog.StoredEvent{
		ID: l.ID, Run: run, Seq: l.Seq, Type: l.Type, WireType: l.WireType, OccurredAt: time.UnixMicro(l.OccurredAt).UTC(),
		RecordedAt: time.UnixMicro(l.RecordedAt).UTC(), Payload: payload, Checksum: l.Checksum, Schema: l.Schema, TraceID: l.TraceID,
		SpanID: l.SpanID, Late: l.Late, Edge: l.Edge, ProducerSeq: l.ProducerSeq,
	}}
}
