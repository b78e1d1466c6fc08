package card

import "encoding/json"

// The payloads of cards by kind (S0 §10, facts 0.1 and 0.2). An Add has what is known then; a Set has the fields that changed; what comes with
// the end is the inner object of a ClosePayload, with the same names.
type (
	TurnPayload struct {
		TurnNo  int    `json:"turn_no,omitempty"` // of the conversation, from 1
		Channel string `json:"channel,omitempty"` // chat | voice | api
	}
	MessagePayload struct {
		Role       string `json:"role,omitempty"` // assistant | user
		Model      string `json:"model,omitempty"`
		StopReason string `json:"stop_reason,omitempty"` // end_turn | tool_use | max_tokens | error
	}
	ToolPayload struct {
		Name           string          `json:"name,omitempty"`
		Target         string          `json:"target,omitempty"` // server | client
		Intent         string          `json:"intent,omitempty"`
		Input          json.RawMessage `json:"input,omitempty"`
		Output         string          `json:"output,omitempty"` // at the end
		RenderHint     string          `json:"render_hint,omitempty"`
		Language       string          `json:"language,omitempty"`
		FilePath       string          `json:"file_path,omitempty"`
		Artifacts      []ArtifactRef   `json:"artifacts,omitempty"`
		AwaitSessionID string          `json:"await_session_id,omitempty"`
		Metadata       map[string]any  `json:"metadata,omitempty"`
		Phase          Phase           `json:"phase,omitempty"`
		PhaseHint      string          `json:"phase_hint,omitempty"`
		PhaseBytes     int64           `json:"phase_bytes,omitempty"`
	}
	AgentPayload struct {
		Name          string        `json:"name,omitempty"`
		AgentType     string        `json:"agent_type,omitempty"` // sync | async
		SubagentType  string        `json:"subagent_type,omitempty"`
		ParentAgentID string        `json:"parent_agent_id,omitempty"`
		TaskPrompt    string        `json:"task_prompt,omitempty"`
		OutputSummary string        `json:"output_summary,omitempty"` // at the end
		NumTurns      int           `json:"num_turns,omitempty"`
		DeniedTools   []string      `json:"denied_tools,omitempty"`
		LoadedSkills  []Skill       `json:"loaded_skills,omitempty"`
		Artifacts     []ArtifactRef `json:"artifacts,omitempty"`
	}
	PlanPayload struct {
		PlanID    string     `json:"plan_id,omitempty"`
		Goal      string     `json:"goal,omitempty"`
		Strategy  string     `json:"strategy,omitempty"` // sequential | parallel | mixed
		Rationale string     `json:"rationale,omitempty"`
		Steps     []PlanStep `json:"steps,omitempty"`
	}
	StepPayload struct {
		StepID        string        `json:"step_id,omitempty"`
		SubagentType  string        `json:"subagent_type,omitempty"`
		Status        string        `json:"status,omitempty"` // queued | running
		InputSummary  string        `json:"input_summary,omitempty"`
		OutputSummary string        `json:"output_summary,omitempty"` // at the end
		Attempts      int           `json:"attempts,omitempty"`
		Deliverables  []string      `json:"deliverables,omitempty"` // artifact ids
		Artifacts     []ArtifactRef `json:"artifacts,omitempty"`
	}
	ArtifactPayload struct {
		ArtifactRef
		URI       string `json:"uri,omitempty"` // artifact:// and the id
		Version   int    `json:"version,omitempty"`
		Thumbnail string `json:"thumbnail,omitempty"` // a PNG in base64
	}
	ThinkingPayload struct {
		Length int `json:"length,omitempty"` // characters so far
	}
	MemoryOpPayload struct {
		Op      string `json:"op"` // read | write | compact
		Subject string `json:"subject,omitempty"`
		Bytes   int64  `json:"bytes,omitempty"`
	}
	BudgetPayload struct {
		Kind  string  `json:"kind"` // warning | exhausted | reset
		Spent *Amount `json:"spent,omitempty"`
		Limit *Amount `json:"limit,omitempty"`
	}
	TodoPayload struct {
		Subject    string `json:"subject,omitempty"`
		Status     string `json:"status,omitempty"` // pending | in_progress | completed | cancelled
		Owner      string `json:"owner,omitempty"`
		ActiveForm string `json:"active_form,omitempty"`
	}
	TeamPayload struct {
		TeamName string   `json:"team_name"`
		Members  []string `json:"members,omitempty"`
	}
	SystemPayload struct {
		Topic      string `json:"topic,omitempty"`
		Summary    string `json:"summary,omitempty"`
		ActionHint string `json:"action_hint,omitempty"`
	}
)

// Parts of payloads.
type (
	// ArtifactRef names a file that something produced (S0 §10.7).
	ArtifactRef struct {
		ArtifactID  string `json:"artifact_id"`
		Name        string `json:"name"`
		Type        string `json:"type,omitempty"` // file | data | image | …
		MIMEType    string `json:"mime_type,omitempty"`
		SizeBytes   int64  `json:"size_bytes,omitempty"`
		Description string `json:"description,omitempty"`
		Role        string `json:"role,omitempty"`
	}
	PlanStep struct {
		StepID            string   `json:"step_id"`
		SubagentType      string   `json:"subagent_type,omitempty"`
		DependsOn         []string `json:"depends_on,omitempty"`
		UserFacingTitle   string   `json:"user_facing_title,omitempty"`
		UserFacingSummary string   `json:"user_facing_summary,omitempty"`
	}
	Skill struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Source  string `json:"source,omitempty"` // candidate | runtime
	}
)

// Phase is how far a tool card has come (facts 0.2).
type Phase string

// The five phases.
const (
	Planning       Phase = "planning"
	PlanningArgs   Phase = "planning_args"
	Queued         Phase = "queued"
	PermissionWait Phase = "permission_wait"
	Executing      Phase = "executing"
)
