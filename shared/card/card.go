// Package card is the vocabulary of the card protocol on /v1/ws (S0 v0.6.1): what the hub sends, what a client sends, and what both know of
// cards. It holds no state and no connection: a hub folds its log into these events, a client folds the events into a forest of cards.
package card

// ProtocolVersion is what session.event(opened) says (R4).
const ProtocolVersion = "2.0"

// Type is what a client does with an event (S0 §4).
type Type string

// The eight actions.
const (
	Add          Type = "card.add"
	Set          Type = "card.set"
	Append       Type = "card.append"
	Tick         Type = "card.tick"
	Close        Type = "card.close"
	PromptUser   Type = "prompt.user"
	PromptReply  Type = "prompt.reply"
	SessionEvent Type = "session.event"
)

// Kind is what a card stands for (S0 §5).
type Kind string

// The thirteen kinds.
const (
	Turn     Kind = "turn"
	Message  Kind = "message"
	Tool     Kind = "tool"
	Agent    Kind = "agent"
	Plan     Kind = "plan"
	Step     Kind = "step"
	Artifact Kind = "artifact"
	Thinking Kind = "thinking"
	MemoryOp Kind = "memory_op"
	Budget   Kind = "budget"
	Todo     Kind = "todo"
	Team     Kind = "team"
	System   Kind = "system"
)

// Status is how a card ended (S0 §6.5).
type Status string

// The four ends.
const (
	OK        Status = "ok"
	Failed    Status = "failed"
	Skipped   Status = "skipped"
	Cancelled Status = "cancelled"
)

// Channel is what an append adds to (S0 §6.3).
type Channel string

// The three channels.
const (
	TextChannel      Channel = "text"
	ToolInputChannel Channel = "tool_input"
	ThinkingChannel  Channel = "thinking"
)

// TickKind is what a tick tells (S0 §6.4).
type TickKind string

// The five ticks.
const (
	Progress   TickKind = "progress"
	Heartbeat  TickKind = "heartbeat"
	Intent     TickKind = "intent"
	Note       TickKind = "note"
	Escalation TickKind = "escalation"
)

// Droppable says whether a tick may be left out for a client that is slow; no other event ever may (R7).
func (k TickKind) Droppable() bool { return k == Progress || k == Heartbeat }

// Role is who an agent is to the person (S0 §3.2).
type Role string

// The four roles.
const (
	Persona      Role = "persona"
	Orchestrator Role = "orchestrator"
	Worker       Role = "worker"
	SystemRole   Role = "system"
)

// Severity of an event.
type Severity string

// The three severities.
const (
	Info  Severity = "info"
	Warn  Severity = "warn"
	Error Severity = "error"
)

// MainAgent is the agent_id of what the conversation's own agent does, and of none of its sub-agents.
const MainAgent = "main"
