package main

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// hello is a plain turn (S0 §13.1).
func (s *stage) hello() error {
	return s.say("Hello", " World!")
}

// files calls a tool whose arguments are seen while they are written (S0 §13.2).
func (s *stage) files() error {
	s.out.Delta("Let me check:")
	s.out.ToolInput("toolu_1", `{"command":`)
	s.out.ToolInput("toolu_1", `"ls -la"}`)
	s.out.EndMessage()
	s.out.ToolCall("toolu_1", "bash", map[string]string{"command": "ls -la"}, agentline.Intent("Lists the files."))
	s.out.ToolResult("toolu_1", "bash", "a.go\nb.go\n", agentline.Metadata(map[string]string{"render_hint": "terminal"}))
	return s.say("Here are the files:", " a.go, b.go.")
}

// search asks a sub-agent, which uses a tool of its own (S0 §13.3).
func (s *stage) search() error {
	if err := s.say("Let me search..."); err != nil {
		return err
	}
	s.out.ToolCall("toolu_1", "Agent", map[string]string{"prompt": "search auth bugs"}, agentline.Intent("Searches for auth bugs."))
	sub := s.out.Begin(event.TaskStartedPayload{
		AgentID: "sub_e5", Name: "search auth bugs", AgentType: "sync", TaskPrompt: "search auth bugs", ToolCallID: "toolu_1",
	})
	sub.ToolCall("toolu_sub_1", "Grep", map[string]string{"pattern": "auth"})
	sub.Fact(event.StatusChange, event.StatusChangePayload{ToolCallID: "toolu_sub_1", Stage: "searching", UptimeMS: 5000})
	if err := s.rest(); err != nil {
		return err
	}
	sub.Fact(event.TaskProgress, event.TaskProgressPayload{ToolCallID: "toolu_sub_1", ItemsProcessed: 12, ItemsTotal: 30})
	sub.ToolResult("toolu_sub_1", "Grep", "Found 3")
	sub.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: "sub_e5", Status: event.WorkOK, OutputSummary: "Found 3", NumTurns: 1})
	s.out.ToolResult("toolu_1", "Agent", "Found 3 potential bugs")
	return s.say("I found 3 potential bugs.")
}

// fetch is a long tool with signs of life (S0 §13.5).
func (s *stage) fetch() error {
	s.out.ToolCall("toolu_1", "WebFetch", map[string]string{"url": "https://example.org/vllm"}, agentline.Intent("Fetches the vLLM paper."))
	for _, sign := range []event.StatusChangePayload{{Stage: "connecting", UptimeMS: 5000}, {Stage: "fetching", UptimeMS: 10000}} {
		sign.ToolCallID = "toolu_1"
		s.out.Fact(event.StatusChange, sign)
		if err := s.rest(); err != nil {
			return err
		}
	}
	for _, sign := range []event.TaskProgressPayload{{ItemsProcessed: 12}, {ItemsProcessed: 25, ETAMS: 3000}} {
		sign.ToolCallID, sign.Stage, sign.ItemsTotal = "toolu_1", "parsing", 30
		s.out.Fact(event.TaskProgress, sign)
		if err := s.rest(); err != nil {
			return err
		}
	}
	s.out.ToolResult("toolu_1", "WebFetch", "A paper about attention.")
	return nil
}

// thoughts are reasoning that stands by itself: before anything was said, while a message is written, and inside a sub-agent.
func (s *stage) thoughts() error {
	s.out.ThinkApart("First the question, ")
	s.out.ThinkApart("then the answer.")
	s.out.Delta("I have thought ")
	s.out.ThinkApart("Twice?")
	s.out.Delta("twice.")
	s.out.EndMessage()
	sub := s.out.Begin(event.TaskStartedPayload{AgentID: "sub_t", Name: "doubter"})
	sub.ThinkApart("Is it so?")
	sub.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: "sub_t", Status: event.WorkOK})
	s.out.ThinkApart("It is so.")
	return nil
}

// manner tells how the person wants it done.
func (s *stage) manner() error {
	return s.say("Mode ", cmp.Or(s.turn.CoordinatorMode, "of my own"), ", plans ", cmp.Or(s.turn.PlanConfirmation, "as I like"), ".")
}

// kinds is everything that shows as a card and that no other scene has.
func (s *stage) kinds() error {
	s.out.Think("What is there to show?")
	s.out.Fact(event.Todo, event.TodoPayload{TodoID: "1", Subject: "Look around", Status: "in_progress", ActiveForm: "Looking around"})
	s.out.Fact(event.Team, event.TeamPayload{TeamName: "writers", Members: []string{"ada", "grace"}})
	s.out.Fact(event.Budget, event.BudgetPayload{Kind: "warning", Spent: &event.Amount{Tokens: 45000}, Limit: &event.Amount{Tokens: 50000}})
	s.out.Fact(event.MemoryOp, event.MemoryOpPayload{Op: "write", Subject: "likes tea", Bytes: 9})
	s.out.Fact(event.ContextCompaction, event.CompactionPayload{Subject: "the first hour", Bytes: 4096})
	s.out.Fact(event.RouteDecision, event.RouteDecisionPayload{FromMode: "react", ToMode: "plan", Reason: "too much for one step"})
	s.out.Fact(event.APIRetry, event.APIRetryPayload{Attempt: 2, RetryInMS: 500})
	s.out.Fact(event.AuthStatus, event.AuthStatusPayload{Status: event.AuthExpired, Summary: "The login is old.", ActionHint: "Log in again."})
	s.out.Fact(event.AgentNotice, event.NoticePayload{Topic: "bash_disabled", Summary: "There is no shell.", ActionHint: "Allow one in the profile."})
	s.out.ToolCall("toolu_1", "Write", map[string]string{"file_path": "notes.md"})
	s.out.Fact(event.ToolUseSummary, event.ToolUseSummaryPayload{ToolCallID: "toolu_1", Intent: "Writes notes."})
	s.out.Fact(event.TaskNotification, event.TaskNotificationPayload{ToolCallID: "toolu_1", Text: "skipped cache, fresh fetch", Severity: "info"})
	s.out.Artifact("notes.md", "text/markdown", []byte("# Notes\n"), agentline.MadeBy("toolu_1", "report"))
	s.out.ToolFailed("toolu_1", "Write", event.ErrorObj{Code: "disk_full", Message: "There is no room.", Retryable: true})
	s.out.Fact(event.Todo, event.TodoPayload{TodoID: "1", Subject: "Look around", Status: "completed"})
	return s.say("The notes are in notes.md.")
}
