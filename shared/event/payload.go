package event

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The payloads that our own producers write, one struct per stored type (S2 table, facts S2 §2.2). Key sets are exact:
// a field without omitempty is required, the others optional. Readers keep and ignore what they do not know.
type (
	RunQueuedPayload struct {
		Reason string `json:"reason"` // a sentence: why it waits
	}
	RunStartedPayload struct {
		StartedAt time.Time `json:"started_at"`
		WorkDir   string    `json:"workDir,omitempty"` // only when the executor really resolved one (S3, R25)
	}
	OutputBatchPayload struct {
		Stream string   `json:"stream"` // stdout | stderr
		Lines  []string `json:"lines"`
	}
	MessageStartedPayload struct {
		MessageID id.Message `json:"message_id"`
		Role      string     `json:"role"` // assistant
		AgentID   SubAgent   `json:"agent_id,omitempty"`
	}
	// DeltaPayload is used by message.delta and run.agent.thinking. Last and fidelity are of the latter: the block of reasoning ends with it.
	DeltaPayload struct {
		MessageID    id.Message `json:"message_id"` // empty for reasoning that stands by itself
		ContentIndex int        `json:"content_index"`
		Delta        string     `json:"delta"`
		AgentID      SubAgent   `json:"agent_id,omitempty"`
		Last         bool       `json:"last,omitempty"`
		Fidelity
	}
	MessageCompletedPayload struct {
		MessageID       id.Message    `json:"message_id"`
		Content         string        `json:"content,omitempty"`
		ContentBlob     *BlobRef      `json:"content_blob,omitempty"` // instead of Content when it is large
		ContentChecksum string        `json:"content_checksum"`       // hex SHA-256 of the UTF-8 bytes
		AgentID         SubAgent      `json:"agent_id,omitempty"`
		StopReason      RequestStatus `json:"stop_reason,omitempty"` // of what was cut off, never completed
		Fidelity
	}
	ToolStartedPayload struct {
		ToolCallID string          `json:"tool_call_id"`
		ToolName   string          `json:"tool_name"`
		Arguments  json.RawMessage `json:"arguments"` // any JSON value; {} when unknown or in ArgumentsBlob
		// ArgumentsBlob stands for Arguments when they are large.
		ArgumentsBlob *BlobRef   `json:"arguments_blob,omitempty"`
		Intent        string     `json:"intent,omitempty"` // what the call is for, in a person's words
		AgentID       SubAgent   `json:"agent_id,omitempty"`
		Target        ToolTarget `json:"target,omitempty"` // who carries the call out; absent for the agent's side
		Fidelity
	}
	ToolCompletedPayload struct {
		ToolCallID     string          `json:"tool_call_id"`
		Result         json.RawMessage `json:"result,omitempty"`
		ResultBlob     *BlobRef        `json:"result_blob,omitempty"` // instead of Result when it is large
		ResultChecksum string          `json:"result_checksum"`       // hex SHA-256 of the canonical JSON of the result
		Metadata       json.RawMessage `json:"metadata,omitempty"`    // an object: how to show the result (S0 render_hint, language, file_path)
		AgentID        SubAgent        `json:"agent_id,omitempty"`
		Images         []string        `json:"images,omitempty"`      // data:MIME;base64,… URLs
		ImagesBlob     *BlobRef        `json:"images_blob,omitempty"` // instead of Images when they are large: the JSON of the list
	}
	ToolFailedPayload struct {
		ToolCallID string   `json:"tool_call_id"`
		Error      ErrorObj `json:"error"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
	}
	ArtifactCreatedPayload struct {
		Type        string      `json:"type"` // file
		ArtifactID  id.Artifact `json:"artifact_id"`
		Filename    string      `json:"filename"`
		ContentType string      `json:"content_type"`
		Size        int64       `json:"size"`
		Checksum    string      `json:"checksum"` // hex SHA-256: also the name of the blob
		Description string      `json:"description,omitempty"`
		Role        string      `json:"role,omitempty"`         // what the file is for: report, draft_email
		ToolCallID  string      `json:"tool_call_id,omitempty"` // the call that made it
		AgentID     SubAgent    `json:"agent_id,omitempty"`
	}
	RunCancellingPayload struct {
		RequestedBy id.User   `json:"requested_by"`
		RequestedAt time.Time `json:"requested_at"`
		Reason      string    `json:"reason,omitempty"` // why, in the words of who asked
	}
	RunCompletedPayload struct {
		MessageID id.Message `json:"message_id,omitempty"` // absent when the agent said nothing
	}
	RunFailedPayload struct {
		Error ErrorObj `json:"error"`
		// ContinuedBy is the run that takes to the agent what a person answered too late for this one.
		ContinuedBy id.Run `json:"continued_by_run_id,omitempty"`
	}
	RunCancelledPayload struct {
		ExternalStopConfirmed bool `json:"external_stop_confirmed"`
	}
	RunInterruptedPayload struct {
		ReasonCode fault.Code `json:"reason_code"`
	}
	RowRefusedPayload struct {
		ProducerSeq uint64     `json:"producer_seq"`
		Code        fault.Code `json:"code"`
	}
	LogGapPayload struct {
		FromProducerSeq uint64 `json:"from_producer_seq"`
		ToProducerSeq   uint64 `json:"to_producer_seq"`
	}
	LateOutcomePayload struct {
		Type    Type            `json:"type"` // the terminal that came late
		Payload json.RawMessage `json:"payload"`
	}
	// SessionInitPayload names the agent's session, and says with what the context of its model runs as far as the agent tells it (S1, session_meta).
	SessionInitPayload struct {
		AgentSessionID     string          `json:"agent_session_id"`
		Model              string          `json:"model,omitempty"` // that answers
		Provider           string          `json:"provider,omitempty"`
		ModelContextWindow json.RawMessage `json:"model_context_window,omitempty"` // how many tokens fit, or a name for it
		SystemPrompt       string          `json:"system_prompt,omitempty"`        // whole, nothing left to fill in
		SystemPromptBlob   *BlobRef        `json:"system_prompt_blob,omitempty"`   // instead of SystemPrompt when it is large
		Tools              json.RawMessage `json:"tools,omitempty"`                // a list of {name, description, parameters?}, as the model is told of them
		ToolsBlob          *BlobRef        `json:"tools_blob,omitempty"`           // instead of Tools when they are large
		AgentState         string          `json:"agent_state,omitempty"`          // the path of what the agent keeps between its runs
	}
	SessionStatePayload struct {
		State string `json:"state"`
	}
	// AgentResultPayload carries what the agent says about its own work: usage as in S4 §4.3, exit code, counters.
	AgentResultPayload struct {
		Usage    json.RawMessage `json:"usage,omitempty"`
		ExitCode *int            `json:"exit_code,omitempty"`
	}
)

// ToolTarget says who carries a call out (S0 §10.3 target).
type ToolTarget string

// TargetClient is a client of the conversation: a prompt of kind client_tool follows the call, and its answer ends it.
const TargetClient ToolTarget = "client"

// ErrorObj is the error of a failed run or tool.
type ErrorObj struct {
	Code      fault.Code `json:"code"`
	Message   string     `json:"message"`
	Retryable bool       `json:"retryable"`
	// What a client has said of a tool of its own besides, for people and other clients (S0 §12 ErrorInfo). The agent is not told.
	Type        string `json:"type,omitempty"`         // of failure; where Code says it, absent
	UserMessage string `json:"user_message,omitempty"` // to the person
}
