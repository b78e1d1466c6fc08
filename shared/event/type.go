package event

// Type is the stored name of an event: S2's name where it has one, else S3's.
type Type string

// WireType is the name of the same event on the edge and hub plane (S3 `run.*`, `run.agent.*`).
type WireType string

// Stored names. Catalogue says for each who may append it and what it looks like.
const (
	RunQueued       Type = "run.queued"
	RunStarted      Type = "run.started"
	RunCheckpoint   Type = "run.checkpoint"
	RunOutputBatch  Type = "run.output.batch"
	RunCancelling   Type = "run.cancelling"
	RunCompleted    Type = "run.completed"
	RunFailed       Type = "run.failed"
	RunCancelled    Type = "run.cancelled"
	RunInterrupted  Type = "run.interrupted"
	RunLateOutcome  Type = "run.late_outcome"
	RunRowRefused   Type = "run.row_refused"
	RunLogGap       Type = "run.log_gap"
	MessageStarted  Type = "message.started"
	MessageDelta    Type = "message.delta"
	MessageDone     Type = "message.completed"
	ToolStarted     Type = "tool.call.started"
	ToolCompleted   Type = "tool.call.completed"
	ToolFailed      Type = "tool.call.failed"
	ArtifactCreated Type = "artifact.created"
	Thinking        Type = "run.agent.thinking"
	ToolInput       Type = "run.agent.tool_input"
	ToolOutput      Type = "run.agent.tool_output"
	SessionInit     Type = "run.agent.session_init"
	SessionState    Type = "run.agent.session_state_changed"
	AgentResult     Type = "run.agent.result"
	SessionMetrics  Type = "run.agent.session_metrics"
	PromptRequested Type = "run.prompt.requested"
	PromptAnswered  Type = "run.prompt.answered"
	PromptDelivered Type = "run.prompt.delivered"
	PromptExpired   Type = "run.prompt.expired"
	RunProcessEnded Type = "run.process_ended"
	RunNotice       Type = "run.notice"
	RunCardOrphaned Type = "run.card_orphaned"
	RunSteered      Type = "run.steered"
	SteerWithdrawn  Type = "run.steer_withdrawn"
	RunImported     Type = "run.imported"
)

// Stored names of the facts that an agent states about its work; AgentFacts has their shapes.
const (
	TaskStarted       Type = "run.agent.task_started"
	SubAgentStatus    Type = "run.agent.sub_agent_status"
	SubAgentsComplete Type = "run.agent.sub_agents_complete"
	TaskProgress      Type = "run.agent.task_progress"
	StatusChange      Type = "run.agent.status_change"
	TaskNotification  Type = "run.agent.task_notification"
	ToolUseSummary    Type = "run.agent.tool_use_summary"
	RouteDecision     Type = "run.agent.route_decision"
	RequestBegin      Type = "run.agent.request_begin"
	RequestEnd        Type = "run.agent.request_end"
	APIRetry          Type = "run.agent.api_retry"
	RateLimit         Type = "run.agent.rate_limit"
	ContextWarning    Type = "run.agent.context_warning"
	Plan              Type = "run.agent.plan"
	PlanStepStatus    Type = "run.agent.plan_step"
	PlanEnded         Type = "run.agent.plan_ended"
	Todo              Type = "run.agent.todo"
	Team              Type = "run.agent.team"
	Budget            Type = "run.agent.budget"
	MemoryOp          Type = "run.agent.memory_op"
	CompactBoundary   Type = "run.agent.compact_boundary"
	ContextCompaction Type = "run.agent.context_compaction"
	CompactionBegin   Type = "run.agent.compaction_begin"
	CompactionEnd     Type = "run.agent.compaction_end"
	ToolListReady     Type = "run.agent.tool_list_ready"
	MCPConnectBegin   Type = "run.agent.mcp_connect_begin"
	MCPConnectEnd     Type = "run.agent.mcp_connect_end"
	AuthStatus        Type = "run.agent.auth_status"
	AgentNotice       Type = "run.agent.notice"
	SteerTaken        Type = "run.agent.steer_taken"
)

// Appender says who may put an event into a run's log.
type Appender uint8

// Appenders are bits: an event may have both.
const (
	ByEdge Appender = 1 << iota
	ByHub
)

// Row is one line of the catalogue.
type Row struct {
	Stored    Type
	Wire      WireType
	By        Appender
	Producer  string // what of ours makes it; "" for a reserved name
	Legal     Phase  // where in a run's life it has its place
	Droppable bool   // may be shed by an edge that is running out of disk
	Terminal  bool   // ends the run; at most one per run
	Reserved  bool   // a name of S2's or S3's inventory that nothing here writes: stored opaque
	Meaning   string // one sentence for api/events.md
}
