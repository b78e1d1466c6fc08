package card

import "encoding/json"

// What the other actions carry.
type (
	// AppendPayload is the next piece of a channel's text; Index tells several blocks apart and is left out when it is 0 (S0 §6.3).
	AppendPayload struct {
		Channel     Channel `json:"channel"`
		Index       int     `json:"index,omitempty"`
		Chunk       string  `json:"chunk,omitempty"`        // of text and thinking
		PartialJSON string  `json:"partial_json,omitempty"` // of tool_input
	}
	// TickPayload is a signal of the moment; Inner is one of the ticks below (S0 §6.4, §11).
	TickPayload struct {
		Kind  TickKind        `json:"kind"`
		Inner json.RawMessage `json:"inner"`
	}
	// ClosePayload ends a card; Inner is a payload of its kind (S0 §6.5).
	ClosePayload struct {
		Status Status          `json:"status"`
		Error  *ErrorInfo      `json:"error,omitempty"` // of a failed one
		Inner  json.RawMessage `json:"inner,omitempty"`
	}
	// PromptPayload asks a person; Inner is event.Question, event.PlanReview, event.StepDecision or Permission, by Kind (S0 §7.1).
	PromptPayload struct {
		RequestID string          `json:"request_id"`
		Kind      string          `json:"kind"` // permission | question | plan_review | step_decision
		Inner     json.RawMessage `json:"inner"`
		TimeoutMS int64           `json:"timeout_ms,omitempty"` // none is no limit (R11)
	}
	// ReplyPayload says what became of a prompt (S0 §7.2, R27).
	ReplyPayload struct {
		RequestID string        `json:"request_id"`
		Decision  ReplyDecision `json:"decision"`
		Reason    string        `json:"reason,omitempty"`
	}
	// SessionPayload is of a session.event; Inner is one of the session payloads below (S0 §8).
	SessionPayload struct {
		Kind  SessionKind     `json:"kind"`
		Inner json.RawMessage `json:"inner,omitempty"`
	}
)

// The ticks (S0 §11).
type (
	ProgressTick struct {
		Stage          string  `json:"stage,omitempty"`
		ProgressPct    float64 `json:"progress_pct,omitempty"` // 0 to 1
		ItemsProcessed int64   `json:"items_processed,omitempty"`
		ItemsTotal     int64   `json:"items_total,omitempty"`
		Unit           string  `json:"unit,omitempty"`
		ETAMS          int64   `json:"eta_ms,omitempty"`
	}
	HeartbeatTick struct {
		Stage            string `json:"stage,omitempty"`
		UptimeMS         int64  `json:"uptime_ms,omitempty"`
		ActiveToolCardID string `json:"active_tool_card_id,omitempty"`
	}
	IntentTick struct {
		Intent string `json:"intent"`
	}
	NoteTick struct {
		Text     string   `json:"text"`
		Severity Severity `json:"severity,omitempty"`
	}
	EscalationTick struct {
		FromMode string `json:"from_mode"`
		ToMode   string `json:"to_mode"`
		Reason   string `json:"reason,omitempty"`
	}
)

// Permission is what a prompt of kind permission asks (S0 §7.1).
type (
	Permission struct {
		ToolName      string             `json:"tool_name"`
		ToolInput     string             `json:"tool_input,omitempty"`
		Message       string             `json:"message,omitempty"`
		IsReadOnly    bool               `json:"is_read_only,omitempty"`
		Options       []PermissionOption `json:"options"`
		PermissionKey string             `json:"permission_key,omitempty"`
	}
	PermissionOption struct {
		Label string `json:"label"`
		Scope string `json:"scope"` // once | session
		Allow bool   `json:"allow"`
	}
)

// ReplyDecision is how a prompt ended.
type ReplyDecision string

// The four ways.
const (
	Approved       ReplyDecision = "approved"
	Denied         ReplyDecision = "denied"
	TimedOut       ReplyDecision = "timeout"
	ReplyCancelled ReplyDecision = "cancelled"
)

// SessionKind is what a session.event tells.
type SessionKind string

// The five kinds.
const (
	Opened       SessionKind = "opened"
	Updated      SessionKind = "updated"
	SessionError SessionKind = "error"
	Resumed      SessionKind = "resumed"
	ResumeFailed SessionKind = "resume_failed"
)

// What session events carry (S0 §8).
type (
	OpenedInner struct {
		ProtocolVersion string       `json:"protocol_version"`
		Model           string       `json:"model,omitempty"`
		Capabilities    Capabilities `json:"capabilities"`
	}
	UpdatedInner struct {
		Title   string   `json:"title,omitempty"`
		Members []string `json:"members,omitempty"`
		Model   string   `json:"model,omitempty"`
	}
	ResumedInner struct {
		TraceID string `json:"trace_id"`
		FromSeq Seq    `json:"from_seq"`
		ToSeq   Seq    `json:"to_seq"` // FromSeq - 1 when nothing was missed (R30)
	}
	ResumeFailedInner struct {
		TraceID string       `json:"trace_id,omitempty"`
		Reason  ResumeReason `json:"reason"`
	}
	ErrorInner struct {
		Error ErrorInfo `json:"error"`
	}
)

// Capabilities is what the server can do (S0 §1.3, §2.4.4). What is false is left out.
type Capabilities struct {
	Streaming   bool `json:"streaming,omitempty"`
	Tools       bool `json:"tools,omitempty"`
	ClientTools bool `json:"client_tools,omitempty"`
	SubAgents   bool `json:"sub_agents,omitempty"`
	Tasks       bool `json:"tasks,omitempty"`
	Teams       bool `json:"teams,omitempty"`
	PlanReview  bool `json:"plan_review,omitempty"`
	Artifacts   bool `json:"artifacts,omitempty"`
	Recovery    bool `json:"recovery,omitempty"`
}

// ResumeReason is why a trace cannot be gone on with. S0's fourth, not_implemented, is never sent (R6).
type ResumeReason string

// The three reasons.
const (
	EventsExpired   ResumeReason = "events_expired"
	UnknownTrace    ResumeReason = "unknown_trace"
	SessionNotFound ResumeReason = "session_not_found"
)
