package card

import "slices"

// Types lists the eight actions, in the order of S0 §4.
func Types() []Type {
	return []Type{Add, Set, Append, Tick, Close, PromptUser, PromptReply, SessionEvent}
}

// Kinds lists the thirteen kinds, in the order of S0 §5.
func Kinds() []Kind {
	return []Kind{Turn, Message, Tool, Agent, Plan, Step, Artifact, Thinking, MemoryOp, Budget, Todo, Team, System}
}

// TickKinds lists the five ticks.
func TickKinds() []TickKind { return []TickKind{Progress, Heartbeat, Intent, Note, Escalation} }

// SessionKinds lists what session events tell.
func SessionKinds() []SessionKind {
	return []SessionKind{Opened, Updated, SessionError, Resumed, ResumeFailed}
}

// Known says whether this package knows what to do with an event of the type. A reader ignores the others.
func (t Type) Known() bool { return slices.Contains(Types(), t) }

// Known says whether the kind is one of the thirteen. A reader shows a card of another kind with what Lookup says of it.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// OfCard says whether events of the type are about a card.
func (t Type) OfCard() bool { return t == Add || t == Set || t == Append || t == Tick || t == Close }

// Severity is that of the event which closes a card so (facts 0.4).
func (s Status) Severity() Severity {
	switch s {
	case Failed:
		return Error
	case Skipped, Cancelled:
		return Warn
	}
	return Info
}

// PongType is the type of the bare frame that answers a ping (S0 §2.3). It is no action: it has neither envelope nor payload.
const PongType Type = pongFrame
