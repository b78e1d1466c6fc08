// Package omni is the vocabulary of OmniMessage (S1): one envelope around what a run of an agent says, the same for programs that follow it live,
// for traces on disk and for server-sent events. It makes messages, reads and checks them, puts fragments of a stream together (Aggregator), and
// holds a stream to its rules (Checker). It keeps no state of its own and reads and writes nothing.
//
// A Message is its line of JSON, and stays that line: what this package does not know, and what is a provider's own (fidelity), is passed on byte
// for byte.
package omni

// MessageType is what the envelope says of its payload (S1, 信封).
type MessageType string

// The three types of messages.
const (
	SessionMeta MessageType = "session_meta" // with what a context of the model runs; one for each context
	ModelMsg    MessageType = "model_msg"    // what is in the context: text, reasoning, tool calls and their outputs, whole or in fragments
	EventMsg    MessageType = "event_msg"    // what happens beside it: requests, approvals, usage, compaction
)

// PayloadType is the `type` of a payload. The payload of a session_meta has none.
type PayloadType string

// The seven payloads of complete model messages (S1, model_msg：完整消息).
const (
	TypeText           PayloadType = "text"
	TypeThinking       PayloadType = "thinking"
	TypeInlineThinking PayloadType = "inline_thinking"
	TypeToolCall       PayloadType = "tool_call"
	TypeToolCallOutput PayloadType = "tool_call_output"
	TypeImageURL       PayloadType = "image_url"
	TypeInlineData     PayloadType = "inline_data"
)

// The four payloads of fragments (S1, model_msg：流式分片).
const (
	TypePartialText           PayloadType = "partial_text"
	TypePartialThinking       PayloadType = "partial_thinking"
	TypePartialToolCall       PayloadType = "partial_tool_call"
	TypePartialToolCallOutput PayloadType = "partial_tool_call_output"
)

// The eight payloads of events (S1, event_msg).
const (
	TypeRequestBegin     PayloadType = "request_begin"
	TypeRequestEnd       PayloadType = "request_end"
	TypeApprovalDecision PayloadType = "approval_decision"
	TypeTokenUsage       PayloadType = "token_usage"
	TypeCompactionBegin  PayloadType = "compaction_begin"
	TypeCompactionEnd    PayloadType = "compaction_end"
	TypeAbort            PayloadType = "abort"
	TypeSubagent         PayloadType = "subagent"
)

// Payloads of events that later versions of the protocol have (R12).
const (
	TypeToolListReady   PayloadType = "tool_list_ready"
	TypeMCPConnectBegin PayloadType = "mcp_connect_begin"
	TypeMCPConnectEnd   PayloadType = "mcp_connect_end"
)

// Role is who says something, to a model.
type Role string

// The two roles. What a tool has put out is the user's.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// StreamEvent is the `event_type` of a fragment.
type StreamEvent string

// The three phases of a fragment: one start, deltas, one stop.
const (
	Start StreamEvent = "start"
	Delta StreamEvent = "delta"
	Stop  StreamEvent = "stop"
)

// StopReason is how something ended (S1, stop_reason). On model messages and fragments it is left out where they ended well.
type StopReason string

// The six reasons.
const (
	Completed StopReason = "completed"
	Failed    StopReason = "failed"    // a request: tried again. A tool: its error goes to the model
	Aborted   StopReason = "aborted"   // a person has stopped it
	Timeout   StopReason = "timeout"   // no answer, a lost connection, or a quota for the moment: the request is tried again
	Malformed StopReason = "malformed" // the answer could not be read or was cut off: the request is tried again
	Auth      StopReason = "auth"      // the provider refuses the credentials: never tried again
)

// StopReasons lists the six, in the order of S1.
func StopReasons() []StopReason {
	return []StopReason{Completed, Failed, Aborted, Timeout, Malformed, Auth}
}

// Retried says whether a request that ended so may be made again within the run (S1, stop_reason: 引擎的反应).
func (r StopReason) Retried() bool { return r == Failed || r == Timeout || r == Malformed }

// orCompleted is what a reason means that may be left out.
func (r StopReason) orCompleted() StopReason {
	if r == "" {
		return Completed
	}
	return r
}
