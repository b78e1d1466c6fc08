package event

// What an agent says about a plan that it carries out (S0 §10.5, §10.6). A plan that somebody reviews first is a PlanReview until then.
type (
	PlanPayload struct {
		PlanID    string        `json:"plan_id"`
		AgentID   SubAgent      `json:"agent_id,omitempty"`
		Goal      string        `json:"goal,omitempty"`
		Strategy  string        `json:"strategy,omitempty" oneof:"sequential,parallel,mixed"`
		Rationale string        `json:"rationale,omitempty"`
		Steps     []PlannedStep `json:"steps,omitempty"`
	}
	PlannedStep struct {
		StepID            string   `json:"step_id"`
		SubagentType      string   `json:"subagent_type,omitempty"`
		DependsOn         []string `json:"depends_on,omitempty"`
		UserFacingTitle   string   `json:"user_facing_title,omitempty"`
		UserFacingSummary string   `json:"user_facing_summary,omitempty"`
	}
	PlanStepPayload struct {
		PlanID        string     `json:"plan_id"`
		StepID        string     `json:"step_id"`
		AgentID       SubAgent   `json:"agent_id,omitempty"`
		Status        WorkStatus `json:"status" oneof:"queued,running,ok,failed,skipped,cancelled"`
		SubagentType  string     `json:"subagent_type,omitempty"`
		InputSummary  string     `json:"input_summary,omitempty"`
		OutputSummary string     `json:"output_summary,omitempty"`
		Attempts      int        `json:"attempts,omitempty"`
		Deliverables  []string   `json:"deliverables,omitempty"` // names of files that the run has handed out, or their artifact ids
		Error         *ErrorObj  `json:"error,omitempty"`
	}
	PlanEndedPayload struct {
		PlanID  string     `json:"plan_id"`
		AgentID SubAgent   `json:"agent_id,omitempty"`
		Status  WorkStatus `json:"status" oneof:"ok,failed,skipped,cancelled"`
		Error   *ErrorObj  `json:"error,omitempty"`
	}
)
