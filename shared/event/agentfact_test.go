package event_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// scopedExamples are what happens inside a sub-agent, with the keys that only an agent of the events runtime fills.
func scopedExamples() map[string]any {
	sum := strings.Repeat("0a", 32)
	return map[string]any{
		"message.started.sub":   event.MessageStartedPayload{MessageID: "msg_2", Role: "assistant", AgentID: "sub_e5"},
		"message.delta.sub":     event.DeltaPayload{MessageID: "msg_2", Delta: "hi", AgentID: "sub_e5"},
		"message.completed.sub": event.MessageCompletedPayload{MessageID: "msg_2", Content: "hi", ContentChecksum: sum, AgentID: "sub_e5"},
		"tool.call.started.sub": event.ToolStartedPayload{
			ToolCallID: "t2", ToolName: "Grep", Arguments: json.RawMessage(`{"pattern":"auth"}`), Intent: "Looks for bugs.", AgentID: "sub_e5",
		},
		"tool.call.completed.sub": event.ToolCompletedPayload{
			ToolCallID: "t2", Result: json.RawMessage(`"Found 3"`), ResultChecksum: sum, Metadata: json.RawMessage(`{"render_hint":"search"}`), AgentID: "sub_e5",
		},
		"tool.call.failed.sub": event.ToolFailedPayload{ToolCallID: "t2", Error: event.ErrorObj{Code: "gone", Message: "It is gone."}, AgentID: "sub_e5"},
		"artifact.created.sub": event.ArtifactCreatedPayload{
			Type: "file", ArtifactID: "art_2", Filename: "mail.md", ContentType: "text/markdown", Size: 12, Checksum: sum,
			Description: "A mail to the interns.", Role: "draft_email", ToolCallID: "t2", AgentID: "sub_e5",
		},
		"run.prompt.requested.sub": event.PromptRequestedPayload{
			RequestID: "req_0123456789abcdef", Kind: event.PromptQuestion, Inner: json.RawMessage(`{"question":"Which?"}`), AgentRequestID: "4",
			Digest: sum, Asks: event.Person, AgentID: "sub_e5",
		},
	}
}

// agentFactExamples has each fact with a decided shape: whole, and with what it needs alone where that is less.
func agentFactExamples() map[string]any {
	failure := &event.ErrorObj{Code: "rate_limit", Message: "Too much.", Retryable: true}
	return map[string]any{
		"run.notice": event.NoticePayload{
			Topic: event.TopicEdgeOffline, Summary: "The computer is away.", ActionHint: "Switch it on.\n- or wait",
		},
		"run.card_orphaned": event.CardOrphanedPayload{CardID: "tool_t1", CardKind: "tool", TimeoutMS: 120000},
		"run.agent.task_started": event.TaskStartedPayload{
			AgentID: "sub_z", Name: "writer", AgentType: "sync", SubagentType: "writer", TaskPrompt: "Write <it>.", ToolCallID: "t1", StepID: "s1",
			ParentAgentID: "sub_y",
		},
		"run.agent.task_started.bare": event.TaskStartedPayload{AgentID: "sub_z", Name: "writer"},
		"run.agent.sub_agent_status": event.SubAgentStatusPayload{
			AgentID: "sub_z", Status: event.WorkFailed, OutputSummary: "Half of it.", NumTurns: 3, DeniedTools: []string{"WebFetch"}, Error: failure,
			Usage: json.RawMessage(`{"input_tokens":12}`),
		},
		"run.agent.sub_agents_complete": event.SubAgentsCompletePayload{AgentIDs: []event.SubAgent{"sub_y", "sub_z"}},
		"run.agent.task_progress": event.TaskProgressPayload{
			ToolCallID: "t1", StepID: "s1", AgentID: "sub_z", Stage: "parsing", ProgressPct: 0.4, ItemsProcessed: 12, ItemsTotal: 30, Unit: "pages", ETAMS: 3000,
		},
		"run.agent.status_change":     event.StatusChangePayload{Stage: "fetching", ToolCallID: "t1", AgentID: "sub_z", UptimeMS: 8500},
		"run.agent.task_notification": event.TaskNotificationPayload{Text: "skipped cache", ToolCallID: "t1", AgentID: "sub_z", Severity: "info"},
		"run.agent.tool_use_summary":  event.ToolUseSummaryPayload{ToolCallID: "t1", AgentID: "sub_z", Intent: "Looks for papers."},
		"run.agent.tool_input":        event.ToolInputPayload{MessageID: "msg_1", ToolCallID: "t1", AgentID: "sub_z", ContentIndex: 1, PartialJSON: `{"command":`},
		"run.agent.route_decision":    event.RouteDecisionPayload{FromMode: "react", ToMode: "plan", AgentID: "sub_z", Reason: "too much"},
		"run.agent.request_begin":     event.RequestBeginPayload{RequestID: "req-2", AgentID: "sub_z", Model: "tiny", Attempt: 2},
		"run.agent.request_end": event.RequestEndPayload{
			RequestID: "req-2", AgentID: "sub_z", Status: event.RequestTimeout, Model: "tiny-1", ErrorMessage: "No answer.", Attempt: 2, RetryInMS: new(int64(4000)),
			Usage: json.RawMessage(`{"input_tokens":12}`),
		},
		"run.agent.request_end.first": event.RequestEndPayload{RequestID: "req-3", Status: event.RequestCompleted},
		"run.agent.request_end.now":   event.RequestEndPayload{RequestID: "req-4", Status: event.RequestFailed, Attempt: 1, RetryInMS: new(int64)},
		"run.agent.api_retry":         event.APIRetryPayload{Attempt: 2, AgentID: "sub_z", RetryInMS: 500, Error: failure},
		"run.agent.rate_limit":        event.RateLimitPayload{AgentID: "sub_z", Text: "Patience.", RetryInMS: 60000},
		"run.agent.context_warning":   event.ContextWarningPayload{AgentID: "sub_z", Text: "Nearly full.", UsedPct: 0.9},
		"run.agent.plan": event.PlanPayload{
			PlanID: "pln_1", AgentID: "sub_y", Goal: "X and Y", Strategy: "sequential", Rationale: "Research comes first.", Steps: []event.PlannedStep{
				{StepID: "s1", SubagentType: "researcher", UserFacingTitle: "Research", UserFacingSummary: "Reads."},
				{StepID: "s2", DependsOn: []string{"s1"}},
			},
		},
		"run.agent.plan_step": event.PlanStepPayload{
			PlanID: "pln_1", StepID: "s1", AgentID: "sub_y", Status: event.WorkFailed, SubagentType: "researcher", InputSummary: "X", OutputSummary: "Y",
			Attempts: 2, Deliverables: []string{"mail.md"}, Error: failure,
		},
		"run.agent.plan_ended":         event.PlanEndedPayload{PlanID: "pln_1", AgentID: "sub_y", Status: event.WorkFailed, Error: failure},
		"run.agent.todo":               event.TodoPayload{TodoID: "1", AgentID: "sub_z", Subject: "Read", Status: "in_progress", Owner: "writer", ActiveForm: "Reading"},
		"run.agent.team":               event.TeamPayload{TeamName: "writers", AgentID: "sub_z", Members: []string{"a", "b"}},
		"run.agent.budget":             event.BudgetPayload{Kind: "warning", AgentID: "sub_z", Spent: &event.Amount{Tokens: 9, USD: 0.5, Calls: 1}, Limit: &event.Amount{Tokens: 10}},
		"run.agent.memory_op":          event.MemoryOpPayload{Op: "write", AgentID: "sub_z", Subject: "likes tea", Bytes: 9},
		"run.agent.compact_boundary":   event.CompactionPayload{AgentID: "sub_z", Subject: "the first hour", Bytes: 4096},
		"run.agent.context_compaction": event.CompactionPayload{AgentID: "sub_z", Subject: "old results", Bytes: 4096},
		"run.agent.compaction_begin": event.CompactionBeginPayload{
			AgentID: "sub_z", Reason: event.CompactedForContext, Mode: event.CompactionSummarize, Context: 250000, Turns: 12,
		},
		"run.agent.compaction_begin.bare": event.CompactionBeginPayload{Reason: event.CompactedByHand, Mode: event.CompactionDiscard},
		"run.agent.compaction_end": event.CompactionEndPayload{
			AgentID: "sub_z", Reason: event.CompactedForContext, Mode: event.CompactionSummarize, Status: event.RequestFailed, ErrorMessage: "No answer.",
			Attempt: 1, RetryInMS: new(int64(2000)),
		},
		"run.agent.compaction_end.bare": event.CompactionEndPayload{
			Reason: event.CompactedByHand, Mode: event.CompactionDiscard, Status: event.RequestCompleted,
		},
		"run.agent.tool_list_ready": event.ToolListReadyPayload{AgentID: "sub_z", Tools: []event.ListedTool{
			{Name: "read", Description: "Reads <a> file.", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "list"},
		}},
		"run.agent.mcp_connect_begin": event.MCPConnectBeginPayload{AgentID: "sub_z", Servers: []string{"files"}},
		"run.agent.mcp_connect_end": event.MCPConnectEndPayload{AgentID: "sub_z", Status: event.RequestFailed, Results: []event.MCPResult{
			{Server: "files", Transport: "stdio", Status: event.RequestCompleted, DurationMS: 12, Tools: []string{"read"}},
			{Server: "web", Transport: "http", Status: event.RequestFailed, DurationMS: 3, Error: "It is away."},
		}},
		"run.agent.auth_status": event.AuthStatusPayload{Status: event.AuthExpired, Summary: "The login is old.", ActionHint: "Log in again."},
		"run.agent.notice":      event.NoticePayload{Topic: "bash_disabled", AgentID: "sub_z", Summary: "No shell.", ActionHint: "Allow it."},
		"run.steered":           event.SteeredPayload{SteerID: "steer_0123456789abcdef", Text: "a < b first", UserID: "user_1"},
		"run.imported":          event.ImportedPayload{Line: `{"type":"event_msg","payload":{"type":"abort","reason":"<"}}`},
		"run.steer_withdrawn":   event.SteerWithdrawnPayload{SteerID: "steer_0123456789abcdef", UserID: "user_1"},
		"run.agent.steer_taken": event.SteerTakenPayload{SteerID: "steer_0123456789abcdef"},
	}
}

// unscoped facts are of several sub-agents, of none, and of the agent that people talk to.
var unscoped = []event.Type{event.SubAgentsComplete, event.AuthStatus, event.SteerTaken}

// TestWhateverHappensInASubAgentCanSaySo holds every payload that has a scope to one name for it.
func TestWhateverHappensInASubAgentCanSaySo(t *testing.T) {
	said := map[string]any{}
	for name, payload := range scopedExamples() {
		said[name] = payload
	}
	for _, f := range event.AgentFacts() {
		if !slices.Contains(unscoped, f.Type) {
			said[string(f.Type)] = agentFactExamples()[string(f.Type)]
		}
	}
	for name, payload := range said {
		encoded, err := event.Encode(payload)
		if err != nil {
			t.Fatal(err)
		}
		var scope struct {
			AgentID event.SubAgent `json:"agent_id"`
		}
		if err := json.Unmarshal(encoded, &scope); err != nil || scope.AgentID == "" {
			t.Errorf("%s says %q, %v", name, scope.AgentID, err)
		}
		if field, ok := reflect.TypeOf(payload).FieldByName("AgentID"); !ok || field.Type != reflect.TypeFor[event.SubAgent]() {
			t.Errorf("%s has no AgentID of the type of scopes", name)
		}
	}
}

func TestWorkIsOverWithItsFourEnds(t *testing.T) {
	for status, want := range map[event.WorkStatus]bool{
		event.WorkQueued: false, event.WorkRunning: false, "": false, "vendor": false,
		event.WorkOK: true, event.WorkFailed: true, event.WorkSkipped: true, event.WorkCancelled: true,
	} {
		if status.Ended() != want {
			t.Errorf("%q ended: %v", status, !want)
		}
	}
}
