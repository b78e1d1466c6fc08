package omni

// What a message is, for those who have to choose (S1, 构造与判别). A word is enough: a payload need not be right for it.

// Known says whether this package knows the payload. A reader passes the others on and makes nothing of them (R12).
func (m Message) Known() bool { return byKey[shapeKey{m.typ, m.kind}] != nil }

// IsSessionMeta says whether the message is with what a context runs.
func (m Message) IsSessionMeta() bool { return m.typ == SessionMeta }

// IsModelMessage says whether the message is of the model's context, whole or in fragments.
func (m Message) IsModelMessage() bool { return m.typ == ModelMsg }

// IsCompleteModelMessage says whether the message is content of the context as a whole. So is one of a type that is not known.
func (m Message) IsCompleteModelMessage() bool { return m.typ == ModelMsg && !m.kind.partial() }

// IsPartial says whether the message is a fragment, which the complete message takes the place of. So is one of a type that is not known and
// whose name begins as those of fragments do.
func (m Message) IsPartial() bool { return m.typ == ModelMsg && m.kind.partial() }

// IsEventMessage says whether the message is an event beside the context.
func (m Message) IsEventMessage() bool { return m.typ == EventMsg }

// IsOfSubagent says whether the message was passed on from the session of a sub-agent.
func (m Message) IsOfSubagent() bool { return m.originSpan.to > 0 }

// InTrace says whether the message belongs in the trace of the session whose stream it is in: all but fragments, and but what sub-agents say,
// who have traces of their own (S1, 协议的三种职责).
func (m Message) InTrace() bool { return !m.IsPartial() && !m.IsOfSubagent() }
