package omni

import "encoding/json"

// The payloads of events (S1, event_msg).
type (
	RequestBeginPayload struct{}
	RequestEndPayload   struct {
		Status StopReason `json:"status" oneof:"completed,failed,aborted,timeout,malformed,auth"` // completed: the turn is committed
		RetryDetail
	}
	ApprovalDecisionPayload struct {
		Decision   Decision `json:"decision" oneof:"allow,deny,forbidden"`
		ToolCallID string   `json:"tool_call_id" filled:"yes"`
	}
	TokenUsagePayload struct {
		Session TokenCounts `json:"session"` // of the session so far, with this request
		Request TokenCounts `json:"request"`
	}
	CompactionBeginPayload struct {
		Reason  CompactionReason `json:"reason" oneof:"context,turns,manual"`
		Mode    CompactionMode   `json:"mode" oneof:"summarize,discard"`
		Context Count            `json:"context"` // tokens in the context when it began
		Turns   Count            `json:"turns"`   // turns so far
	}
	CompactionEndPayload struct {
		Reason CompactionReason `json:"reason" oneof:"context,turns,manual"`
		Mode   CompactionMode   `json:"mode" oneof:"summarize,discard"`
		Status StopReason       `json:"status" oneof:"completed,failed,aborted,timeout,malformed,auth"`
		RetryDetail
	}
	AbortPayload struct {
		Reason string `json:"reason,omitempty" null:"yes"`
	}
	SubagentPayload struct {
		SessionID string `json:"session_id" filled:"yes"` // of the direct child
	}
)

// RetryDetail is what is told of a request that did not succeed at once (S1, request_end). The zero RetryDetail is that of one that did.
type RetryDetail struct {
	ErrorMessage string `json:"error_message,omitempty"` // of a status other than completed
	Attempt      Count  `json:"attempt,omitempty"`       // which attempt it was, from 1; none where the first one succeeded
	RetryInMS    *Count `json:"retry_in_ms,omitempty"`   // milliseconds until the next attempt, where one is planned
}

// Payloads of later versions (R12). What lists hold is not decided: they are passed on as they are.
type (
	ToolListReadyPayload struct {
		Tools []json.RawMessage `json:"tools"`
	}
	MCPConnectBeginPayload struct {
		Servers []json.RawMessage `json:"servers"`
	}
	MCPConnectEndPayload struct {
		Status  StopReason  `json:"status" oneof:"completed,failed,aborted"`
		Results []MCPResult `json:"results"`
	}
	MCPResult struct {
		Server     string          `json:"server" filled:"yes"`
		Transport  string          `json:"transport" oneof:"stdio,http,sse"`
		Status     StopReason      `json:"status" oneof:"completed,failed,aborted"`
		DurationMS Count           `json:"duration_ms"`
		Tools      json.RawMessage `json:"tools,omitempty"`
		Error      string          `json:"error,omitempty"`
	}
)

// Decision is what became of a tool call that had to be approved.
type Decision string

// The decisions. Forbidden is one of later versions: a rule and not a person said no.
const (
	Allow     Decision = "allow"
	Deny      Decision = "deny"
	Forbidden Decision = "forbidden"
)

// CompactionReason is why a context is made smaller.
type CompactionReason string

// The three reasons.
const (
	ContextReached CompactionReason = "context"
	TurnsReached   CompactionReason = "turns"
	Manual         CompactionReason = "manual"
)

// CompactionMode is what becomes of the old context.
type CompactionMode string

// The two modes.
const (
	Summarize CompactionMode = "summarize"
	Discard   CompactionMode = "discard"
)

func (RequestBeginPayload) shape() shapeKey     { return shapeKey{EventMsg, TypeRequestBegin} }
func (RequestEndPayload) shape() shapeKey       { return shapeKey{EventMsg, TypeRequestEnd} }
func (ApprovalDecisionPayload) shape() shapeKey { return shapeKey{EventMsg, TypeApprovalDecision} }
func (TokenUsagePayload) shape() shapeKey       { return shapeKey{EventMsg, TypeTokenUsage} }
func (CompactionBeginPayload) shape() shapeKey  { return shapeKey{EventMsg, TypeCompactionBegin} }
func (CompactionEndPayload) shape() shapeKey    { return shapeKey{EventMsg, TypeCompactionEnd} }
func (AbortPayload) shape() shapeKey            { return shapeKey{EventMsg, TypeAbort} }
func (SubagentPayload) shape() shapeKey         { return shapeKey{EventMsg, TypeSubagent} }
func (ToolListReadyPayload) shape() shapeKey    { return shapeKey{EventMsg, TypeToolListReady} }
func (MCPConnectBeginPayload) shape() shapeKey  { return shapeKey{EventMsg, TypeMCPConnectBegin} }
func (MCPConnectEndPayload) shape() shapeKey    { return shapeKey{EventMsg, TypeMCPConnectEnd} }
