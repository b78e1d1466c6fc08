package omni

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Rule says what an event of the catalogue is in the stream of its conversation, in messages.
type Rule form.Rule[applier]

type applier func(*State, Fact)

// appliers are the rules that do anything, by their events.
var appliers = form.Index(Rules())

// Rules returns the decision for every event of the catalogue, those of reserved names last.
func Rules() []Rule {
	var rules []Rule
	for _, group := range [][]Rule{lifeRules(), talkRules(), workRules(), unseenRules()} {
		rules = append(rules, group...)
	}
	return rules
}

const formEnd = "partial_*(stop)*, text | thinking?, tool_call*, token_usage?, request_end?, tool_call_output*"

func lifeRules() []Rule {
	const why = "What is open ends for the reason of the run's end (R34), calls without an output get one in their order; sub-agents first. "
	return []Rule{
		{event.RunStarted, "subagent?, text?", "Its directory is the workspace of the next session_meta. Of a run that goes on for one that has waited for people: what its agent is told of their answers, of the user. A run that another started, or that begins while another is at work, has a session of its own.", (*State).runStarted},
		{event.SessionInit, "", "What it says of the model is in the next session_meta.", (*State).sessionInit},
		{event.RunCompleted, formEnd, why + "The request is completed.", (*State).runEnded},
		{event.RunFailed, formEnd, why + "The request is failed, or timeout, with the error, and auth where the edge has no valid credentials; one begins for it where none is open.", (*State).runEnded},
		{event.RunCancelled, formEnd + ", abort", why + "The request is aborted; abort has the reason that was given for the stop.", (*State).runEnded},
		{event.RunInterrupted, formEnd, why + "As for a run that failed.", (*State).runEnded},
		{event.RunCancelling, "", "The end that follows says it; what ends until then was aborted.", (*State).runCancelling},
		{event.AgentResult, "", "Its usage is told with the end of the run.", (*State).agentResult},
	}
}

func talkRules() []Rule {
	return []Rule{
		{event.MessageStarted, "partial_*(stop)?, text | thinking?", "A fragment begins with its first piece; one that is open ends.", (*State).messageStarted},
		{event.MessageDelta, "request_begin?, partial_text(start)?, partial_text(delta)", "A text of more than 1 MiB is several.", (*State).messageDelta},
		{event.Thinking, "request_begin?, partial_thinking(start)?, partial_thinking(delta), partial_thinking(stop)?, thinking?", "It ends with `last`, and takes the fidelity then, or where the agent goes on with a text, a message or a call.", (*State).thinking},
		{event.MessageDone, "partial_text(delta)?, partial_text(stop), text", "First what was not streamed. A text that does not go on from what was streamed follows as another. What was cut off has its stop_reason; without one it is aborted while the run is being stopped.", (*State).messageDone},
		{event.ToolInput, "request_begin?, partial_tool_call(start)?, partial_tool_call(delta)?", "Where the tool's name is said. The tool_call has the arguments as the model wrote them; a call that is made with other ones is told as another, and what was written ends malformed.", (*State).toolInput},
		{event.ToolOutput, "request_end?, partial_tool_call_output(start)?, partial_tool_call_output(delta)", "Up to 1 MiB of the calls that are open; the result tells the rest.", (*State).toolOutput},
		{event.ToolStarted, "request_begin?, partial_tool_call(stop)?, tool_call?, approval_decision?", "A tool_call_id that is there twice gets a number. A decision that came before it follows.", (*State).toolStarted},
		{event.ToolCompleted, "request_end?, partial_tool_call_output*, tool_call_output", "The request is completed with the first output of its calls, unless the model is speaking. An output that does not go on from what was shown of it follows that on a line of its own.", (*State).toolCompleted},
		{event.ToolFailed, "request_end?, partial_tool_call_output*, tool_call_output", "With the error, for failed or timeout; aborted for a call that was denied, called off, or stopped with its run. Of a denied call without an error it says whether a person, a rule or nobody has decided. That of a call that ended with its process while a person is asked about it waits for the decision, or the run's end.", (*State).toolFailed},
		{event.RunSteered, "", "It is told where the agent takes it. What is not taken by the run's end was not delivered.", (*State).steered},
		{event.SteerWithdrawn, "", "It will not be told.", (*State).steerWithdrawn},
		{event.SteerTaken, "partial_*(stop)?, text | thinking?, request_end?, text?", "Of the user: [user_steering] and what was said. An agent that does not state its requests begins another one behind it.", (*State).steerTaken},
		{event.RunImported, "the line", "As it is in the trace that was brought. Messages of the conversation are no messages then: the lines say them.", (*State).imported},
		{event.PromptRequested, "", "The decision says it.", (*State).promptRequested},
		{event.PromptAnswered, "approval_decision?, request_end?, partial_tool_call_output*, tool_call_output?", "Of a permission for a call: allow or deny, and the output that has waited for it.", (*State).promptAnswered},
		{event.PromptExpired, "approval_decision?, request_end?, partial_tool_call_output*, tool_call_output?", "Of a permission for a call: deny, and the output that has waited for it.", (*State).promptExpired},
	}
}

func workRules() []Rule {
	const compacted = "A new context begins: session_meta comes before what is said next."
	return []Rule{
		{event.TaskStarted, "subagent, session_meta, text?", "The pointer is in the session above; the task is what the user says in the sub-agent's.", (*State).taskStarted},
		{event.SubAgentStatus, formEnd, "For a status that is an end: of the sub-agent's session.", (*State).subAgentStatus},
		{event.RequestBegin, "request_begin", "An agent that states its requests has no others. Its model is that of the next session_meta.", (*State).stated},
		{event.RequestEnd, "partial_*(stop)?, text | thinking?, token_usage?, request_end", "As the agent states it; what is open ends with it.", (*State).statedEnd},
		{event.APIRetry, "request_begin?, request_end?", "Of an agent that does not state its requests: failed, or timeout, with the attempt and the wait; the next request has the next attempt.", (*State).apiRetry},
		{event.CompactionBegin, "partial_*(stop)?, text | thinking?, request_end?, compaction_begin", "What the model says until the end is the summary.", (*State).compactionBegins},
		{event.CompactionEnd, "compaction_begin?, partial_*(stop)?, text | thinking?, request_end?, compaction_end", "After a completed one a new context begins: session_meta and the user's text [context_summary] come before what is said next.", (*State).compactionEnds},
		{event.ToolListReady, "tool_list_ready", "A later event of S1 (R12).", (*State).toolListReady},
		{event.MCPConnectBegin, "mcp_connect_begin", "A later event of S1 (R12).", (*State).toolServersAsked},
		{event.MCPConnectEnd, "mcp_connect_end", "A later event of S1 (R12).", (*State).toolServersReached},
		{event.CompactBoundary, "compaction_begin, compaction_end", compacted, (*State).compaction},
		{event.ContextCompaction, "compaction_begin, compaction_end", compacted, (*State).compaction},
	}
}

// unseenRules are the events that are no messages.
func unseenRules() []Rule {
	const beside = "S1 has no message for it."
	var rules []Rule
	for _, t := range []event.Type{
		event.RunQueued, event.RunCheckpoint, event.RunOutputBatch, event.RunRowRefused, event.RunLogGap, event.RunCardOrphaned, event.RunNotice,
		event.AgentNotice, event.AuthStatus, event.RunProcessEnded, event.PromptDelivered, event.ArtifactCreated, event.SubAgentsComplete, event.Plan,
		event.PlanStepStatus, event.PlanEnded, event.Todo, event.Team, event.Budget, event.MemoryOp, event.TaskProgress, event.StatusChange,
		event.SessionState, event.TaskNotification, event.ToolUseSummary, event.RouteDecision, event.RateLimit, event.ContextWarning, event.SessionMetrics,
	} {
		rules = append(rules, Rule{Event: t, Why: beside})
	}
	rules = append(rules, Rule{Event: event.RunLateOutcome, Why: "Late: the stream has had its end."})
	return append(rules, form.Reserved[Rule]()...)
}
