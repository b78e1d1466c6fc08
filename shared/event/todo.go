package event

// What an agent keeps beside its work (S0 §10.8, facts 0.1).
type (
	TodoPayload struct {
		TodoID     string   `json:"todo_id"`
		AgentID    SubAgent `json:"agent_id,omitempty"`
		Subject    string   `json:"subject"`
		Status     string   `json:"status,omitempty" oneof:"pending,in_progress,completed,cancelled"`
		Owner      string   `json:"owner,omitempty"`
		ActiveForm string   `json:"active_form,omitempty"`
	}
	TeamPayload struct {
		TeamName string   `json:"team_name"`
		AgentID  SubAgent `json:"agent_id,omitempty"`
		Members  []string `json:"members,omitempty"`
	}
	BudgetPayload struct {
		Kind    string   `json:"kind" oneof:"warning,exhausted,reset"`
		AgentID SubAgent `json:"agent_id,omitempty"`
		Spent   *Amount  `json:"spent,omitempty"`
		Limit   *Amount  `json:"limit,omitempty"`
	}
	Amount struct {
		Tokens int64   `json:"tokens,omitempty"`
		USD    float64 `json:"usd,omitempty"`
		Calls  int64   `json:"calls,omitempty"`
	}
	MemoryOpPayload struct {
		Op      string   `json:"op" oneof:"read,write,compact"`
		AgentID SubAgent `json:"agent_id,omitempty"`
		Subject string   `json:"subject,omitempty"`
		Bytes   int64    `json:"bytes,omitempty"`
	}
	// CompactionPayload is of run.agent.compact_boundary and run.agent.context_compaction: what was said so far is replaced by less.
	CompactionPayload struct {
		AgentID SubAgent `json:"agent_id,omitempty"`
		Subject string   `json:"subject,omitempty"`
		Bytes   int64    `json:"bytes,omitempty"` // what is left
	}
)
