package event

// What prompts ask, but for permissions, and what is answered beside the decision (S0). Names are S0's.
type (
	Question struct {
		Question    string   `json:"question"`
		Options     []Choice `json:"options,omitempty"`
		Multi       bool     `json:"multi,omitempty"`
		AllowCustom *bool    `json:"allow_custom,omitempty"` // absent is true
	}
	Choice struct {
		Label       string `json:"label"`
		Description string `json:"description,omitempty"`
	}
	QuestionResponse struct {
		SelectedOptions []string `json:"selected_options,omitempty"` // labels
		CustomText      string   `json:"custom_text,omitempty"`
	}

	PlanReview struct {
		PlanID             string     `json:"plan_id"`
		Goal               string     `json:"goal,omitempty"`
		Rationale          string     `json:"rationale,omitempty"`
		Steps              []PlanStep `json:"steps"`
		AvailableSubagents []string   `json:"available_subagents,omitempty"`
		RejectionReason    string     `json:"rejection_reason,omitempty"` // why the plan that came back before this one was refused
	}
	PlanStep struct {
		ID           string   `json:"id"`
		SubagentType string   `json:"subagent_type,omitempty"`
		Description  string   `json:"description,omitempty"`
		Prompt       string   `json:"prompt,omitempty"`
		DependsOn    []string `json:"depends_on,omitempty"`
	}
	PlanResponse struct {
		UpdatedSteps []PlanStep `json:"updated_steps,omitempty"` // instead of those that were shown; none: as shown
	}

	StepDecision struct {
		Scope           string `json:"scope"` // step | plan
		StepID          string `json:"step_id,omitempty"`
		StepDescription string `json:"step_description,omitempty"`
		Reason          string `json:"reason,omitempty"`
		Attempts        int    `json:"attempts,omitempty"`
		AllowRetry      bool   `json:"allow_retry,omitempty"`
	}
)

// Scopes of a StepDecision.
const (
	ScopeStep = "step"
	ScopePlan = "plan"
)

// Custom says whether an answer in one's own words is taken.
func (q Question) Custom() bool { return q.AllowCustom == nil || *q.AllowCustom }
