package event

// AgentFact is a fact with a decided shape that an agent of the events runtime, or an adapter for one, may state about its work. Payload is the
// zero value of its struct: a field without omitempty is needed, `oneof` lists the words that a text may be, and `share` is a number from 0 to 1.
type AgentFact struct {
	Type    Type
	Payload any
	Meaning string // one sentence for pages
}

// AgentFacts returns them in the order of api/events.md.
func AgentFacts() []AgentFact {
	return []AgentFact{
		{TaskStarted, TaskStartedPayload{}, "The agent has handed a task to a sub-agent: from here on its `agent_id` may be named."},
		{SubAgentStatus, SubAgentStatusPayload{}, "How far a sub-agent has come, or how it has ended."},
		{SubAgentsComplete, SubAgentsCompletePayload{}, "The sub-agents that the agent waited for have all ended."},
		{TaskProgress, TaskProgressPayload{}, "How far a tool, a step or an agent has come."},
		{StatusChange, StatusChangePayload{}, "A sign of life: what a tool or an agent is doing."},
		{TaskNotification, TaskNotificationPayload{}, "A remark about a tool or an agent."},
		{ToolUseSummary, ToolUseSummaryPayload{}, "What a tool call is for, in a person's words."},
		{RouteDecision, RouteDecisionPayload{}, "The agent goes on in another mode."},
		{RequestBegin, RequestBeginPayload{}, "A request goes to the model; each attempt is one."},
		{RequestEnd, RequestEndPayload{}, "A request of the model has ended; one with `retry_in_ms` is made again after that time."},
		{APIRetry, APIRetryPayload{}, "A call of the model failed and is tried again, from an agent that does not tell its requests."},
		{RateLimit, RateLimitPayload{}, "The model's provider asks for patience."},
		{ContextWarning, ContextWarningPayload{}, "The model's context is nearly full."},
		{Plan, PlanPayload{}, "A plan that is now carried out; one that is reviewed is said after the approval."},
		{PlanStepStatus, PlanStepPayload{}, "How far a step of a plan has come, or how it has ended."},
		{PlanEnded, PlanEndedPayload{}, "How a plan has ended."},
		{Todo, TodoPayload{}, "An entry of the agent's list of things to do, new or changed."},
		{Team, TeamPayload{}, "Agents that work together, new or changed."},
		{Budget, BudgetPayload{}, "What the work may cost: a warning, its end, or a new beginning."},
		{MemoryOp, MemoryOpPayload{}, "The agent read or wrote its memory, or made it shorter."},
		{CompactBoundary, CompactionPayload{}, "The conversation with the model begins anew here with less."},
		{ContextCompaction, CompactionPayload{}, "The model's context was made shorter."},
		{CompactionBegin, CompactionBeginPayload{}, "The model's context is being made smaller; what the model says until the end is the summary."},
		{CompactionEnd, CompactionEndPayload{}, "That is over: with `completed` a new context begins; one with `retry_in_ms` is made again after that time."},
		{ToolListReady, ToolListReadyPayload{}, "Which tools there are now."},
		{MCPConnectBegin, MCPConnectBeginPayload{}, "Connections to tool servers are made."},
		{MCPConnectEnd, MCPConnectEndPayload{}, "What became of them."},
		{AuthStatus, AuthStatusPayload{}, "How the runtime's login stands."},
		{AgentNotice, NoticePayload{}, "Something that the person should know about the whole conversation."},
		{SteerTaken, SteerTakenPayload{}, "The agent gives to the model what was said to it while it works."},
	}
}

func agentFactRows() []Row {
	var rows []Row
	for _, f := range AgentFacts() {
		rows = append(rows, Row{Stored: f.Type, Producer: "agent", Meaning: f.Meaning})
	}
	return rows
}

func agentFactOf(t Type) any {
	for _, f := range AgentFacts() {
		if f.Type == t {
			return f.Payload
		}
	}
	return nil
}
