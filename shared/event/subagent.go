package event

import "encoding/json"

// SubAgent names a sub-agent within its run, in the agent's own words: what S0's envelope has as agent_id. "" is the run's own agent. Whatever
// has it in its payload happened inside that sub-agent.
type SubAgent string

// WorkStatus is how far a sub-agent, a plan or a step of one has come. Queued and Running may be followed by another.
type WorkStatus string

// The statuses of work; the last four are ends, and S0's names of them.
const (
	WorkQueued    WorkStatus = "queued"
	WorkRunning   WorkStatus = "running"
	WorkOK        WorkStatus = "ok"
	WorkFailed    WorkStatus = "failed"
	WorkSkipped   WorkStatus = "skipped"
	WorkCancelled WorkStatus = "cancelled"
)

// Ended says whether the work is over.
func (s WorkStatus) Ended() bool {
	switch s {
	case WorkOK, WorkFailed, WorkSkipped, WorkCancelled:
		return true
	}
	return false
}

// What an agent says about its sub-agents (S0 §10.4).
type (
	TaskStartedPayload struct {
		AgentID       SubAgent `json:"agent_id"`
		Name          string   `json:"name"`
		AgentType     string   `json:"agent_type,omitempty" oneof:"sync,async"`
		SubagentType  string   `json:"subagent_type,omitempty"`
		TaskPrompt    string   `json:"task_prompt,omitempty"`
		ToolCallID    string   `json:"tool_call_id,omitempty"`    // the call that asked for it
		StepID        string   `json:"step_id,omitempty"`         // the step of a plan that it carries out
		ParentAgentID SubAgent `json:"parent_agent_id,omitempty"` // absent for the run's own agent
	}
	SubAgentStatusPayload struct {
		AgentID       SubAgent        `json:"agent_id"`
		Status        WorkStatus      `json:"status" oneof:"running,ok,failed,skipped,cancelled"`
		OutputSummary string          `json:"output_summary,omitempty"`
		NumTurns      int             `json:"num_turns,omitempty"`
		DeniedTools   []string        `json:"denied_tools,omitempty"`
		Error         *ErrorObj       `json:"error,omitempty"`
		Usage         json.RawMessage `json:"usage,omitempty"` // as in AgentResultPayload
	}
	SubAgentsCompletePayload struct {
		AgentIDs []SubAgent `json:"agent_ids,omitempty"` // those that were waited for
	}
)
