package event

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Version is the envelope version that this code writes (S3 EventEnvelope.version).
const Version = "v1"

// MaxRowBytes bounds an encoded envelope; larger values travel as blobs (architecture 6.4).
const MaxRowBytes = 256 << 10

// Envelope is S3's EventEnvelope and one row of an edge journal: Seq is the journal's producer_seq. Payload bytes are encoded
// once and carried unchanged from the edge to every client.
type Envelope struct {
	Version string          `json:"version"`
	ID      id.Event        `json:"id"`
	Seq     uint64          `json:"seq"`
	Type    WireType        `json:"type"`
	Scope   Scope           `json:"scope"`
	TraceID string          `json:"traceId,omitempty"` // trace_ + 32 hex (R29)
	SpanID  string          `json:"spanId,omitempty"`  // 16 hex, only with a TraceID
	SentAt  time.Time       `json:"sentAt"`            // UTC, microseconds: when it happened at the edge
	Payload json.RawMessage `json:"payload"`
}

// Scope says what an event belongs to (R25): absent when unknown, never guessed.
type Scope struct {
	ProjectID      string     `json:"projectId,omitempty"`      // workspace
	ConversationID id.Session `json:"conversationId,omitempty"` // session
	ThreadID       string     `json:"threadId,omitempty"`       // the agent's own session id
	RunID          id.Run     `json:"runId,omitempty"`
	EdgeID         id.Edge    `json:"edgeId,omitempty"`
}
