package card

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Trace numbers the events of one trace and names its cards. It is not safe for concurrent use. Its JSON is what a checkpoint keeps of it.
type Trace struct {
	ID       id.Trace   `json:"trace_id"`
	Session  id.Session `json:"session_id"`
	Language Language   `json:"language,omitempty"`
	Last     Seq        `json:"seq"` // of the newest event; 0 before the first
	IDs      IDs        `json:"ids"`
}

// EventID is the id of an event of a trace: the same for everyone who makes the event (facts 0.6).
func EventID(trace id.Trace, seq Seq) id.Event {
	var text [64]byte
	sum := sha256.Sum256(strconv.AppendUint(append(append(text[:0], trace...), ':'), uint64(seq), 10))
	return id.Event("evt_" + hex.EncodeToString(sum[:10]))
}

// At returns the builder of what the conversation's own agent does in a run at a time.
func (t *Trace) At(at time.Time, run id.Run) Builder {
	return Builder{trace: t, at: at, run: run, agent: MainAgent}
}

// Builder makes the events of one agent scope. There is no other way to make them, and no way to name another agent: all that a builder makes
// carries the agent_id of its scope, and Sub alone opens one (S0 §3.2, §13.3). An agent's card is part of the scope that it opens.
type Builder struct {
	trace *Trace
	at    time.Time
	run   id.Run
	agent string
	role  Role
}

// Sub returns the builder of a sub-agent's scope. agentID is the id of its agent card; "" is the scope itself. With a role, everything in the
// scope has it; without, each card has that of its kind.
func (b Builder) Sub(agentID string, role Role) Builder {
	if agentID != "" {
		b.agent, b.role = agentID, role
	}
	return b
}

// AgentID is the scope's.
func (b Builder) AgentID() string { return b.agent }

// NewID returns the id of the card that the next event adds; own is what agent, model or plan call it, or "".
func (b Builder) NewID(kind Kind, own string) string {
	return b.trace.IDs.Take(kind, own, b.trace.Last+1)
}

// Ref names a card.
type Ref struct {
	ID     string `json:"id"`
	Kind   Kind   `json:"kind"`
	Parent string `json:"parent,omitempty"` // "" at the root
}

// Add opens a card. What the hint leaves open is as the registry has it; nil leaves all of it open.
func (b Builder) Add(card Ref, payload any, hint *Hint) Event {
	e := b.next(Add, card, payload)
	e.Envelope.ParentCardID = card.Parent
	full := Lookup(card.Kind).Hint(b.trace.Language, e.Payload)
	if hint != nil {
		full = hint.Over(full)
	}
	e.Hint = &full
	return e
}

// Set overwrites fields of a card: those that the payload has.
func (b Builder) Set(card Ref, payload any) Event { return b.next(Set, card, payload) }

// Append adds to a channel of a card. Index tells blocks apart.
func (b Builder) Append(card Ref, channel Channel, index int, text string) Event {
	payload := AppendPayload{Channel: channel, Index: index, Chunk: text}
	if channel == ToolInputChannel {
		payload.Chunk, payload.PartialJSON = "", text
	}
	return b.next(Append, card, payload)
}

// Tick tells of a moment of a card; inner is the tick of the kind. A note of warn or error has that severity.
func (b Builder) Tick(card Ref, kind TickKind, inner any) Event {
	e := b.next(Tick, card, TickPayload{Kind: kind, Inner: raw(inner)})
	if note, ok := inner.(NoteTick); ok && note.Severity != "" {
		e.Envelope.Severity = note.Severity
	}
	return e
}

// End is what a close says. Error is of a failed one, Inner a payload of the card's kind or nil, Hint and Metrics are nil where nothing is known.
type End struct {
	Status  Status
	Error   *ErrorInfo
	Inner   any
	Hint    *Hint
	Metrics *Metrics
}

// Close ends a card. A failed one always says why: what the error leaves open is as the registry has it.
func (b Builder) Close(card Ref, end End) Event {
	payload := ClosePayload{Status: end.Status}
	if end.Status == Failed {
		if end.Error == nil {
			end.Error = &ErrorInfo{Type: Internal, Message: "no reason was given"}
		}
		full := end.Error.Complete(b.trace.Language)
		payload.Error = &full
	}
	if end.Inner != nil {
		payload.Inner = raw(end.Inner)
	}
	e := b.next(Close, card, payload)
	e.Envelope.Severity, e.Hint, e.Metrics = end.Status.Severity(), end.Hint, end.Metrics
	return e
}

// PromptUser asks a person (S0 §7.1).
func (b Builder) PromptUser(prompt PromptPayload) Event { return b.next(PromptUser, Ref{}, prompt) }

// PromptReply says what became of a prompt (S0 §7.2).
func (b Builder) PromptReply(reply ReplyPayload) Event { return b.next(PromptReply, Ref{}, reply) }

// next numbers and names an event.
func (b Builder) next(t Type, card Ref, payload any) Event {
	if card.Kind == Agent && card.ID != b.agent { // its scope is the agent itself, whoever speaks of it
		b = b.Sub(card.ID, "")
	}
	if b.role == "" {
		b.role = b.roleFor(card.Kind)
	}
	b.trace.Last++
	return Event{
		Type: t,
		Envelope: Envelope{
			EventID: EventID(b.trace.ID, b.trace.Last), SessionID: b.trace.Session, TraceID: b.trace.ID, CardID: card.ID, CardKind: card.Kind,
			Seq: b.trace.Last, Timestamp: b.at, AgentID: b.agent, AgentRole: b.role, AgentRunID: b.run,
		},
		Payload: raw(payload), made: true,
	}
}

// roleFor is who acts, where nobody has said: of a prompt it is the one who asks.
func (b Builder) roleFor(kind Kind) Role {
	switch {
	case kind != "":
		return Lookup(kind).Role
	case b.agent == MainAgent:
		return Persona
	}
	return Worker
}

// raw encodes what is part of an event. An artifact is always where its id says (S0 §12). What cannot be encoded, a raw value that is no JSON, is
// left out: a fact that was committed is told.
func raw(payload any) json.RawMessage {
	if artifact, ok := payload.(ArtifactPayload); ok {
		artifact.URI = artifactScheme + artifact.ArtifactID
		payload = artifact
	}
	if piece, ok := payload.(AppendPayload); ok {
		return piece.appendTo(make([]byte, 0, len(piece.Chunk)+len(piece.PartialJSON)+appendBytes))
	}
	encoded, err := event.Encode(payload)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return encoded
}
