package card_test

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

var at = time.Date(2026, 5, 7, 10, 0, 0, 250_000_999, time.FixedZone("CST", 8*3600))

const (
	traceID   = "tr_0123456789abcdef01234567"
	sessionID = "sess_0196f3a0-0000-7000-8000-000000000001"
	runID     = "run_0123456789abcdef"
	requestID = "req_0123456789abcdef"
)

func newTrace() *card.Trace { return &card.Trace{ID: traceID, Session: sessionID} }

// payloads has one payload of each kind, with every key.
func payloads() map[card.Kind]any {
	ref := card.ArtifactRef{
		ArtifactID: "art_a1b2", Name: "report.md", Type: "file", MIMEType: "text/markdown", SizeBytes: 1240, Description: "a < b & c", Role: "report",
	}
	refs := []card.ArtifactRef{ref}
	amount := &card.Amount{Tokens: 12000, USD: 0.05, Calls: 3}
	return map[card.Kind]any{
		card.Turn:    card.TurnPayload{TurnNo: 1, Channel: "chat"},
		card.Message: card.MessagePayload{Role: "assistant", Model: "m-1", StopReason: "end_turn"},
		card.Tool: card.ToolPayload{
			Name: "Bash", Target: "server", Intent: "列目录", Input: json.RawMessage(`{"command":"ls -la","n":1.0}`), Output: "a\nb", RenderHint: "terminal",
			Language: "go", FilePath: "/tmp/x.go", Artifacts: refs, AwaitSessionID: "s1", Metadata: map[string]any{"exit": "0"},
			Phase: card.Executing, PhaseHint: "working", PhaseBytes: 200,
		},
		card.Agent: card.AgentPayload{
			Name: "researcher", AgentType: "sync", SubagentType: "search", ParentAgentID: "main", TaskPrompt: "look", OutputSummary: "found", NumTurns: 3,
			DeniedTools: []string{"WebFetch"}, LoadedSkills: []card.Skill{{Name: "pdf", Version: "2", Source: "runtime"}}, Artifacts: refs,
		},
		card.Plan: card.PlanPayload{
			PlanID: "pln_1", Goal: "write", Strategy: "sequential", Rationale: "research+write",
			Steps: []card.PlanStep{{StepID: "s2", SubagentType: "writer", DependsOn: []string{"s1"}, UserFacingTitle: "Write", UserFacingSummary: "the mail"}},
		},
		card.Step: card.StepPayload{
			StepID: "s1", SubagentType: "researcher", Status: "queued", InputSummary: "in", OutputSummary: "out", Attempts: 1,
			Deliverables: []string{"art_a1b2"}, Artifacts: refs,
		},
		card.Artifact: card.ArtifactPayload{ArtifactRef: ref, URI: "artifact://art_a1b2", Version: 1, Thumbnail: "iVBORw0="},
		card.Thinking: card.ThinkingPayload{Length: 12},
		card.MemoryOp: card.MemoryOpPayload{Op: "compact", Subject: "notes", Bytes: 4096},
		card.Budget:   card.BudgetPayload{Kind: "warning", Spent: amount, Limit: amount},
		card.Todo:     card.TodoPayload{Subject: "Write tests", Status: "in_progress", Owner: "main", ActiveForm: "Writing tests"},
		card.Team:     card.TeamPayload{TeamName: "press", Members: []string{"a", "b"}},
		card.System:   card.SystemPayload{Topic: "search_capability_gap", Summary: "no search", ActionHint: "turn it on"},
	}
}

func ticks() map[card.TickKind]any {
	return map[card.TickKind]any{
		card.Progress:   card.ProgressTick{Stage: "fetching", ProgressPct: 0.4, ItemsProcessed: 12, ItemsTotal: 30, Unit: "pages", ETAMS: 18000},
		card.Heartbeat:  card.HeartbeatTick{Stage: "running_tools", UptimeMS: 8500, ActiveToolCardID: "tool_x"},
		card.Intent:     card.IntentTick{Intent: "正在搜索 vLLM 论文"},
		card.Note:       card.NoteTick{Text: "skipped cache, fresh fetch", Severity: card.Warn},
		card.Escalation: card.EscalationTick{FromMode: "react", ToMode: "plan", Reason: "complex"},
	}
}

func prompts() map[event.PromptKind]any {
	no := false
	return map[event.PromptKind]any{
		event.PromptPermission: card.Permission{
			ToolName: "Bash", ToolInput: "rm -rf /tmp", Message: "Allow shell?", IsReadOnly: true, PermissionKey: "Bash:rm",
			Options: []card.PermissionOption{{Label: "Allow once", Scope: "once", Allow: true}, {Label: "Deny", Scope: "once"}},
		},
		event.PromptQuestion: event.Question{
			Question: "你希望覆盖中文论文吗？", Options: []event.Choice{{Label: "是", Description: "all"}, {Label: "否"}}, Multi: true, AllowCustom: &no,
		},
		event.PromptPlanReview: event.PlanReview{
			PlanID: "pln_1", Goal: "write", Rationale: "why", AvailableSubagents: []string{"researcher"}, RejectionReason: "too long",
			Steps: []event.PlanStep{{ID: "s1", SubagentType: "researcher", Description: "look", Prompt: "look well", DependsOn: []string{"s0"}}},
		},
		event.PromptStepDecision: event.StepDecision{
			Scope: "step", StepID: "s2", StepDescription: "look", Reason: "rate limit exceeded (+2 more)", Attempts: 3, AllowRetry: true,
		},
	}
}

func sessionInners() map[card.SessionKind]any {
	all := card.Capabilities{
		Streaming: true, Tools: true, ClientTools: true, SubAgents: true, Tasks: true, Teams: true, PlanReview: true, Artifacts: true, Recovery: true,
	}
	return map[card.SessionKind]any{
		card.Opened:       card.OpenedInner{ProtocolVersion: card.ProtocolVersion, Model: "m-1", Capabilities: all},
		card.Updated:      card.UpdatedInner{Title: "Bugs", Members: []string{"user_1"}, Model: "m-2"},
		card.SessionError: card.ErrorInner{Error: card.NewError(card.InvalidInput, "no such frame", card.English)},
		card.Resumed:      card.ResumedInner{TraceID: traceID, FromSeq: 43, ToSeq: 68},
		card.ResumeFailed: card.ResumeFailedInner{TraceID: traceID, Reason: card.EventsExpired},
	}
}

// events has one event of each type, kind, channel, tick, prompt and session event, by the name of its golden file.
func events() map[string]card.Event {
	trace, all := newTrace(), map[string]card.Event{}
	main := trace.At(at, runID)
	tool := card.Ref{ID: "toolu_1", Kind: card.Tool, Parent: "msg_1"}
	for _, kind := range card.Kinds() {
		all["add."+string(kind)] = main.Add(card.Ref{ID: "x_1", Kind: kind, Parent: "turn_1"}, payloads()[kind], nil)
	}
	for _, kind := range card.TickKinds() {
		all["tick."+string(kind)] = main.Tick(tool, kind, ticks()[kind])
	}
	for kind, inner := range prompts() {
		encoded, _ := event.Encode(inner)
		all["prompt.user."+string(kind)] = main.PromptUser(card.PromptPayload{RequestID: requestID, Kind: string(kind), Inner: encoded, TimeoutMS: 60000})
	}
	for kind, inner := range sessionInners() {
		told := card.Opening{Session: sessionID, Trace: traceID}.Tell(at, kind, inner)
		told.Envelope.EventID = "evt_0123456789abcdef0123" // it is random
		all["session."+string(kind)] = told
	}
	all["add.unknown"] = main.Add(card.Ref{ID: "card_1", Kind: "hologram"}, struct{}{}, nil)
	all["add.hint"] = main.Add(card.Ref{ID: "card_2", Kind: card.System}, card.SystemPayload{Topic: "edge_offline"}, &card.Hint{
		Title: "Offline", Summary: "a < b", Icon: "warning", InitialState: card.Expanded, Persona: "calm", RenderHint: "banner",
	})
	all["set"] = main.Set(tool, card.ToolPayload{Phase: card.Executing})
	all["append.text"] = main.Append(card.Ref{ID: "msg_1", Kind: card.Message}, card.TextChannel, 0, "Hello <b> \u2028 世界\n")
	all["append.thinking"] = main.Append(card.Ref{ID: "msg_1", Kind: card.Message}, card.ThinkingChannel, 2, "hm")
	all["append.tool_input"] = main.Append(card.Ref{ID: "msg_1", Kind: card.Message}, card.ToolInputChannel, 1, `{"command":`)
	all["close.ok"] = main.Close(tool, card.End{
		Status: card.OK, Inner: card.ToolPayload{Output: "done"}, Hint: &card.Hint{RenderHint: "specialist_summary"},
		Metrics: &card.Metrics{
			DurationMS: 50, TokensIn: 120, TokensOut: 80, CacheReadTokens: 10000, CacheWriteTokens: 500, CostUSD: 0.0023, Model: "m-1",
			BudgetSpent: &card.Amount{Tokens: 12000, USD: 0.05}, BudgetLimit: &card.Amount{Calls: 7},
		},
	})
	failed := card.ErrorInfo{
		Type: card.ToolTimeout, Code: "BASH_TIMEOUT", Message: "Bash exceeded 120s", RetryAfterMS: 5000,
		Recovery: &card.Recovery{Action: "retry", NextCardID: "step_b"}, Details: map[string]any{"model": "m-1"},
	}
	all["close.failed"] = main.Close(tool, card.End{Status: card.Failed, Error: &failed})
	all["close.skipped"] = main.Close(tool, card.End{Status: card.Skipped})
	all["close.cancelled"] = main.Close(tool, card.End{Status: card.Cancelled})
	all["sub.agent"] = main.Sub("sub_e5", card.Worker).Add(card.Ref{ID: "sub_e5", Kind: card.Agent, Parent: "toolu_1"}, card.AgentPayload{Name: "search"}, nil)
	all["sub.tool"] = main.Sub("sub_e5", card.Worker).Add(card.Ref{ID: "toolu_2", Kind: card.Tool, Parent: "sub_e5"}, card.ToolPayload{Name: "Grep"}, nil)
	all["prompt.reply"] = main.PromptReply(card.ReplyPayload{RequestID: requestID, Decision: card.Approved, Reason: "retry"})
	return all
}
