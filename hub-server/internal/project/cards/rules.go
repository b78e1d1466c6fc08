package cards

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/form"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// Rule says what an event of the catalogue is told in the trace of its conversation, in actions and kinds of cards.
type Rule form.Rule[applier]

type applier func(*State, Fact)

// appliers are the rules that do anything, by their events.
var appliers = form.Index(Rules())

// Rules returns the decision for every event of the catalogue, those of reserved names last.
func Rules() []Rule {
	var rules []Rule
	for _, group := range [][]Rule{lifeRules(), talkRules(), promptRules(), teamRules(), signalRules(), unseenRules()} {
		rules = append(rules, group...)
	}
	return rules
}

const (
	formEnd = "prompt.reply*, close(all open), close(turn)"
	whyEnd  = "Open questions are cancelled; what is open ends as the run does, the cards below first, the turn last and with the metrics."
)

func lifeRules() []Rule {
	return []Rule{
		{event.RunStarted, "add(turn)", "The turn, numbered within the conversation; of a run that a run started an agent card below its step, call, message or turn.", (*State).runStarted},
		{event.RunCompleted, formEnd, whyEnd + " Status ok.", (*State).runEnded},
		{event.RunFailed, formEnd, whyEnd + " Status failed.", (*State).runEnded},
		{event.RunCancelled, formEnd, whyEnd + " Status cancelled.", (*State).runEnded},
		{event.RunInterrupted, formEnd, whyEnd + " Status failed with orphan_timeout.", (*State).runEnded},
		{event.RunCancelling, "", "The end that follows says it; a call that ends until then was stopped.", (*State).runCancelling},
		{event.RunRowRefused, "tick(turn, note)", "A part of what the agent said is missing; severity warn.", (*State).lost},
		{event.RunLogGap, "tick(turn, note)", "A part of what the agent said is missing; severity warn.", (*State).lost},
		{event.RunCardOrphaned, "close(card)", "Failed with orphan_timeout; a later end of the card counts in its stead.", (*State).orphaned},
		{event.RunNotice, "add(system)", "At the root, once for each topic of the conversation; it never closes.", (*State).notice},
		{event.AgentNotice, "add(system)", "At the root, once for each topic of the conversation; it never closes.", (*State).notice},
		{event.AuthStatus, "add(system)?", "For the status expired, with topic auth_expired.", (*State).authStatus},
		{event.AgentResult, "", "What the run has cost is told with the end of the turn, its model by session.event too.", (*State).agentResult},
	}
}

func talkRules() []Rule {
	return []Rule{
		{event.MessageStarted, "add(message)", "Below the agent's card, else the turn.", (*State).messageStarted},
		{event.MessageDelta, "append(message, text)", "Index is the content index; names of artifacts become links.", (*State).messageDelta},
		{event.Thinking, "append(message, thinking)", "One that stands by itself, with no message_id: add(thinking) below the agent's card, else the turn, append, and close where the agent goes on with a message or a call, else with its end.", (*State).thinking},
		{event.ToolInput, "append(message, tool_input)", "A message of nothing but arguments is added for it.", (*State).toolInput},
		{event.MessageDone, "append(message, text)?, close(message)", "First what was not streamed. A text that does not go on from what was is a reset: the card is closed and another one added. Of a text in a blob, its beginning is shown as the conversation has it. What was cut off ends as its stop_reason says: aborted is cancelled, any other failed.", (*State).messageDone},
		{event.ToolStarted, "add(tool)?", "Below the newest message of the same agent, else its card; phase executing. A call of a client's tool is added when the client may answer.", (*State).toolStarted},
		{event.ToolCompleted, "close(tool)", "Status ok, with output, what the metadata says, and the artifacts of the call.", (*State).toolCompleted},
		{event.ToolFailed, "close(tool)", "Status failed with the error; cancelled for a call that was called off, or stopped with its run.", (*State).toolFailed},
		{event.RunImported, "as of the event that the line would be", "Of a trace that somebody brought: texts, reasoning, calls, sub-agents, compactions. What a person said is a message of the conversation.", (*State).imported},
		{event.ArtifactCreated, "add(artifact), close(artifact)", "Below the call that made it, else an open call, else the agent's card.", (*State).artifact},
	}
}

func promptRules() []Rule {
	return []Rule{
		{event.PromptRequested, "set(tool)?, prompt.user | add(tool)", "With the request's own id; a call that waits for permission has phase permission_wait. What a policy answers is not shown. Of a call of a client's tool it is the card, with target client: nobody is asked.", (*State).promptRequested},
		{event.PromptAnswered, "prompt.reply?, set(tool)?", "continue and retry are approved with the word as reason, cancel is cancelled (R27). The result of a client's tool is told when the call ends.", (*State).promptAnswered},
		{event.PromptExpired, "prompt.reply?", "Decision timeout. That a client has not answered is told when the call ends.", (*State).promptExpired},
		{event.PromptDelivered, "", "The reply has told the decision.", nil},
		{event.RunProcessEnded, "", "The run waits on; its questions stay open.", nil},
	}
}

func teamRules() []Rule {
	return []Rule{
		{event.TaskStarted, "add(agent)", "Below the step, else the call, the sub-agent that started it, an open call, the message or the turn; set(agent) for one that is open.", (*State).taskStarted},
		{event.SubAgentStatus, "set(agent)? | close(agent)", "Its open cards close first.", (*State).subAgentStatus},
		{event.SubAgentsComplete, "", "Each has told its own end.", nil},
		{event.Plan, "add(plan)", "Below the agent's card, else the turn; set(plan) for one that is open. A plan under review has no card.", (*State).plan},
		{event.PlanStepStatus, "add(step) | set(step) | close(step)", "Below its plan, else the open one, else the agent's card.", (*State).planStep},
		{event.PlanEnded, "close(step)*, close(plan)", "Steps that nobody has ended are skipped, or cancelled with the plan.", (*State).planEnded},
		{event.Todo, "add(todo) | set(todo) | close(todo)", "Open ones close with the run: skipped if it completed.", (*State).todo},
		{event.Team, "add(team) | set(team)", "Closes with the run.", (*State).team},
		{event.Budget, "add(budget), close(budget)", "The newest amounts are told again with the end of the turn.", (*State).budget},
		{event.MemoryOp, "add(memory_op), close(memory_op)", "Below the agent's card, else the turn.", (*State).memoryOp},
		{event.CompactBoundary, "add(memory_op), close(memory_op)", "Op compact.", (*State).compaction},
		{event.CompactionEnd, "add(memory_op), close(memory_op) | tick(note)", "Op compact, for one that went well; else a note with severity warn.", (*State).compactionEnd},
		{event.ContextCompaction, "add(memory_op), close(memory_op)", "Op compact.", (*State).compaction},
	}
}

func signalRules() []Rule {
	return []Rule{
		{event.TaskProgress, "tick(progress)?", "Of the call, else the step, else the agent's card; at most one in 250 ms, none after the end.", (*State).taskProgress},
		{event.StatusChange, "tick(heartbeat)?", "Of the call, else the agent's card; at most one in 250 ms, none after the end.", (*State).statusChange},
		{event.SessionState, "tick(heartbeat)?", "Of the turn, with the state as stage.", (*State).sessionState},
		{event.TaskNotification, "tick(note)", "Of the call, else the agent's card.", (*State).taskNotification},
		{event.ToolUseSummary, "tick(intent)", "Of the call.", (*State).toolUseSummary},
		{event.RouteDecision, "tick(escalation)", "Of the agent's card, else the turn.", (*State).routeDecision},
		{event.RequestEnd, "tick(note)?", "For one that is made again, as of api_retry. How the last one ended is told with the turn.", (*State).requestEnd},
		{event.APIRetry, "tick(note)", "Severity warn.", (*State).apiRetry},
		{event.RunSteered, "tick(turn, note)?", "What was said to the agent while it works; nothing where no turn is open. With the end of the run, before the turn closes, how much of that the agent has not heard; severity warn.", (*State).steered},
		{event.SteerWithdrawn, "tick(turn, note)?", "That it was taken back.", (*State).steerWithdrawn},
		{event.SteerTaken, "tick(turn, note)?", "That the agent has heard it.", (*State).steerTaken},
		{event.RateLimit, "tick(note)", "Severity warn.", (*State).rateLimit},
		{event.ContextWarning, "tick(note)", "Severity warn.", (*State).contextWarning},
		{event.CompactionBegin, "tick(heartbeat)?", "Of the agent's card, else the turn, with stage compacting.", (*State).compactionBegin},
		{event.MCPConnectEnd, "tick(note)?", "For one with servers that were not reached; severity warn.", (*State).toolServers},
	}
}

// unseenRules are the events that are not shown.
func unseenRules() []Rule {
	rules := []Rule{
		{Event: event.RunQueued, Why: "The turn opens when the agent works: no card would be renewed while the run waits."},
		{Event: event.RunCheckpoint, Why: "For resuming; nothing that a person acts on."},
		{Event: event.RunOutputBatch, Why: "Raw output of the process; it is in the log."},
		{Event: event.RunLateOutcome, Why: "Late: the cards have had their end."},
		{Event: event.SessionInit, Why: "The agent's own session; for resuming. Its model is told by session.event.", Apply: (*State).sessionInit},
		{Event: event.RequestBegin, Why: "A person sees what comes of it."},
		{Event: event.ToolOutput, Why: "The result has all of it."},
		{Event: event.ToolListReady, Why: "Of the agent's own; a person sees what comes of it."},
		{Event: event.MCPConnectBegin, Why: "The end says what became of it."},
		{Event: event.SessionMetrics, Why: "Counters while it works; the sum is told with the end of the turn."},
	}
	return append(rules, form.Reserved[Rule]()...)
}
