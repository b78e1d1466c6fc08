package event

import "github.com/switchyard-dev/switchyard/shared/id"

// Signals of the moment, of a tool if they name one, else of the step or of the agent that they are about (S0 §11).
type (
	TaskProgressPayload struct {
		ToolCallID     string   `json:"tool_call_id,omitempty"`
		StepID         string   `json:"step_id,omitempty"`
		AgentID        SubAgent `json:"agent_id,omitempty"`
		Stage          string   `json:"stage,omitempty"`
		ProgressPct    float64  `json:"progress_pct,omitempty" share:"0..1"`
		ItemsProcessed int64    `json:"items_processed,omitempty"`
		ItemsTotal     int64    `json:"items_total,omitempty"`
		Unit           string   `json:"unit,omitempty"`
		ETAMS          int64    `json:"eta_ms,omitempty"`
	}
	StatusChangePayload struct {
		Stage      string   `json:"stage"`
		ToolCallID string   `json:"tool_call_id,omitempty"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
		UptimeMS   int64    `json:"uptime_ms,omitempty"`
	}
	TaskNotificationPayload struct {
		Text       string   `json:"text"`
		ToolCallID string   `json:"tool_call_id,omitempty"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
		Severity   string   `json:"severity,omitempty" oneof:"info,warn,error"` // absent is info
	}
	ToolUseSummaryPayload struct {
		ToolCallID string   `json:"tool_call_id"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
		Intent     string   `json:"intent"` // what the call is for, in the person's words
	}
	// ToolInputPayload is the next piece of the arguments of a call while the model writes them, before the call starts. It is part of the message
	// that is being written then.
	ToolInputPayload struct {
		MessageID    id.Message `json:"message_id"`
		ToolCallID   string     `json:"tool_call_id,omitempty"`
		ToolName     string     `json:"tool_name,omitempty"` // of the first piece at least, for readers that show the call as it is written
		ContentIndex int        `json:"content_index,omitempty"`
		PartialJSON  string     `json:"partial_json"`
		AgentID      SubAgent   `json:"agent_id,omitempty"`
	}
	// ToolOutputPayload is the next piece of what an open call puts out, before it returns. All pieces together are the beginning of its result.
	ToolOutputPayload struct {
		ToolCallID string   `json:"tool_call_id"`
		Delta      string   `json:"delta"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
	}
	RouteDecisionPayload struct {
		FromMode string   `json:"from_mode"`
		ToMode   string   `json:"to_mode"`
		AgentID  SubAgent `json:"agent_id,omitempty"`
		Reason   string   `json:"reason,omitempty"`
	}
	APIRetryPayload struct {
		Attempt   int       `json:"attempt"` // from 1
		AgentID   SubAgent  `json:"agent_id,omitempty"`
		RetryInMS int64     `json:"retry_in_ms,omitempty"`
		Error     *ErrorObj `json:"error,omitempty"` // why the try before failed
	}
	RateLimitPayload struct {
		AgentID   SubAgent `json:"agent_id,omitempty"`
		Text      string   `json:"text,omitempty"`
		RetryInMS int64    `json:"retry_in_ms,omitempty"`
	}
	ContextWarningPayload struct {
		AgentID SubAgent `json:"agent_id,omitempty"`
		Text    string   `json:"text,omitempty"`
		UsedPct float64  `json:"used_pct,omitempty" share:"0..1"`
	}
)
