package card

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Event is what a server sends, and the whole of one text message (S0 §3). Payload is encoded once and never again: it is one of the payload
// types of this package, decided by Type, and for Add and Set by the card's kind.
type Event struct {
	Type     Type            `json:"type"`
	Envelope Envelope        `json:"envelope"`
	Hint     *Hint           `json:"hint,omitempty"`
	Metrics  *Metrics        `json:"metrics,omitempty"` // of a Close alone
	Payload  json.RawMessage `json:"payload"`

	made bool // Payload is as event.Encode writes it
}

// Envelope says what an event belongs to (S0 §3.2). CardID and CardKind are always written, empty for prompts and session events.
type Envelope struct {
	EventID      id.Event   `json:"event_id,omitempty"`
	SessionID    id.Session `json:"session_id,omitempty"`
	TraceID      id.Trace   `json:"trace_id,omitempty"`
	CardID       string     `json:"card_id"`
	ParentCardID string     `json:"parent_card_id,omitempty"`
	CardKind     Kind       `json:"card_kind"`
	Seq          Seq        `json:"seq,omitempty"` // of the trace, from 1 without holes; none on session events
	Timestamp    time.Time  `json:"timestamp,omitzero"`
	AgentID      string     `json:"agent_id,omitempty"` // MainAgent, or the id of the agent card that all of it happens in
	AgentRole    Role       `json:"agent_role,omitempty"`
	AgentRunID   id.Run     `json:"agent_run_id,omitempty"`
	Severity     Severity   `json:"severity,omitempty"`
}

// Seq numbers the events of one trace. It is none of the four numbers of the log and is never computed from one.
type Seq uint64

// Hint is advice on how to show a card; a client may do otherwise (S0 §3.3).
type Hint struct {
	Title        string       `json:"title,omitempty"` // always there in an Add
	Summary      string       `json:"summary,omitempty"`
	Icon         string       `json:"icon,omitempty"`
	InitialState InitialState `json:"initial_state,omitempty"`
	Persona      string       `json:"persona,omitempty"`
	RenderHint   string       `json:"render_hint,omitempty"` // of a Close, as S0 §13.4 has it
}

// InitialState is how a card is first shown.
type InitialState string

// The three ways.
const (
	Expanded  InitialState = "expanded"
	Collapsed InitialState = "collapsed"
	Hidden    InitialState = "hidden"
)

// Metrics is what a card has cost (S0 §3.4). Unknown is absent, never 0.
type Metrics struct {
	DurationMS       int64   `json:"duration_ms,omitempty"`
	TokensIn         int64   `json:"tokens_in,omitempty"`
	TokensOut        int64   `json:"tokens_out,omitempty"`
	CacheReadTokens  int64   `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int64   `json:"cache_write_tokens,omitempty"`
	CostUSD          float64 `json:"cost_usd,omitempty"`
	Model            string  `json:"model,omitempty"`
	BudgetSpent      *Amount `json:"budget_spent,omitempty"`
	BudgetLimit      *Amount `json:"budget_limit,omitempty"`
}

// Amount is a budget or a part of one.
type Amount struct {
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	Calls  int64   `json:"calls,omitempty"`
}
