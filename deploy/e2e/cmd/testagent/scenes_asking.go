package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// plan hands the work to specialists, whose plan a person reviews and may change (S0 §13.4).
func (s *stage) plan() error {
	if err := s.say("我来安排专业团帮你..."); err != nil {
		return err
	}
	s.out.ToolCall("tu_main_1", "Specialists", map[string]string{"task": "调研 X 写 Y"}, agentline.Intent("派 Specialists"))
	chief := s.out.Begin(event.TaskStartedPayload{AgentID: "sub_y", Name: "specialists", AgentType: "sync", ToolCallID: "tu_main_1"})
	steps := []event.PlanStep{
		{ID: "s1", SubagentType: "researcher", Description: "调研"},
		{ID: "s2", SubagentType: "writer", Description: "撰写", DependsOn: []string{"s1"}},
	}
	answer, err := s.ask(chief, "plan", event.PromptPlanReview, event.PlanReview{
		PlanID: "pln_1", Goal: "调研 X 写 Y", Rationale: "research+write", Steps: steps, AvailableSubagents: []string{"researcher", "writer"},
	})
	if err != nil {
		return err
	}
	if answer.Decision != event.Allow {
		chief.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: "sub_y", Status: event.WorkCancelled})
		s.out.ToolFailed("tu_main_1", "Specialists", event.ErrorObj{Code: "rejected", Message: "The plan was rejected: " + answer.Reason})
		return s.say("So I leave it.")
	}
	var changed event.PlanResponse
	if len(answer.Response) > 0 && json.Unmarshal(answer.Response, &changed) == nil && len(changed.UpdatedSteps) > 0 {
		steps = changed.UpdatedSteps
	}
	s.carryOut(chief, steps)
	chief.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: "sub_y", Status: event.WorkOK, OutputSummary: "The mail is written."})
	s.out.ToolResult("tu_main_1", "Specialists", "done", agentline.Metadata(map[string]string{"render_hint": "specialist_summary"}))
	return s.say("邮件已经准备好：", "intern-schedule-email.md")
}

// carryOut plays each step with a sub-agent; the last one hands out a file.
func (s *stage) carryOut(chief *agentline.Writer, steps []event.PlanStep) {
	said := event.PlanPayload{PlanID: "pln_1", Goal: "调研 X 写 Y", Strategy: "sequential"}
	for _, step := range steps {
		said.Steps = append(said.Steps, event.PlannedStep{
			StepID: step.ID, SubagentType: step.SubagentType, DependsOn: step.DependsOn, UserFacingTitle: step.Description,
		})
	}
	chief.Fact(event.Plan, said)
	for _, step := range steps {
		chief.Fact(event.PlanStepStatus, event.PlanStepPayload{PlanID: "pln_1", StepID: step.ID, Status: event.WorkQueued, SubagentType: step.SubagentType})
	}
	for i, step := range steps {
		chief.Fact(event.PlanStepStatus, event.PlanStepPayload{PlanID: "pln_1", StepID: step.ID, Status: event.WorkRunning, Attempts: 1})
		id := event.SubAgent(fmt.Sprintf("sub_z%d", i+1))
		worker := chief.Begin(event.TaskStartedPayload{AgentID: id, Name: step.SubagentType, AgentType: "sync", StepID: step.ID})
		ended := event.PlanStepPayload{PlanID: "pln_1", StepID: step.ID, Status: event.WorkOK, OutputSummary: step.Description}
		call := fmt.Sprintf("tu_l3_%d", i+1)
		worker.ToolCall(call, "ArtifactWrite", map[string]string{"step": step.ID})
		if i == len(steps)-1 {
			worker.Artifact("intern-schedule-email.md", "text/markdown", []byte("# 邮件\n"), agentline.MadeBy(call, "draft_email"))
			ended.Deliverables = []string{"intern-schedule-email.md"}
		}
		worker.ToolResult(call, "ArtifactWrite", "written")
		worker.Fact(event.SubAgentStatus, event.SubAgentStatusPayload{AgentID: id, Status: event.WorkOK, NumTurns: 1})
		chief.Fact(event.PlanStepStatus, ended)
	}
	chief.Fact(event.PlanEnded, event.PlanEndedPayload{PlanID: "pln_1", Status: event.WorkOK})
}

// question asks which, and says what it was told.
func (s *stage) question() error {
	answer, err := s.ask(s.out, "question", event.PromptQuestion, event.Question{
		Question: "你希望覆盖中文论文吗？", Options: []event.Choice{{Label: "是"}, {Label: "否"}, {Label: "都看"}},
	})
	if err != nil {
		return err
	}
	var chosen event.QuestionResponse
	if len(answer.Response) > 0 {
		if err := json.Unmarshal(answer.Response, &chosen); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
	}
	return s.say(fmt.Sprintf("%s: %s%s", answer.Decision, strings.Join(chosen.SelectedOptions, ", "), chosen.CustomText))
}

// permission asks before it uses a tool.
func (s *stage) permission() error {
	input := map[string]string{"command": "rm -rf /tmp/scratch"}
	s.out.ToolCall("toolu_1", "Bash", input)
	allowed, err := s.mayI("permission", "Bash", "toolu_1", input)
	if err != nil {
		return err
	}
	if !allowed {
		s.out.ToolFailed("toolu_1", "Bash", event.ErrorObj{Code: "permission_denied", Message: "A person said no."})
		return s.say("It stays.")
	}
	s.out.ToolResult("toolu_1", "Bash", "")
	return s.say("It is gone.")
}

// decision has a step that fails until somebody gives it up or lets it be.
func (s *stage) decision() error {
	s.out.Fact(event.Plan, event.PlanPayload{PlanID: "pln_2", Steps: []event.PlannedStep{{StepID: "s2", SubagentType: "researcher"}}})
	for attempt := 1; ; attempt++ {
		s.out.Fact(event.PlanStepStatus, event.PlanStepPayload{PlanID: "pln_2", StepID: "s2", Status: event.WorkRunning, Attempts: attempt})
		answer, err := s.ask(s.out, fmt.Sprintf("decision-%d", attempt), event.PromptStepDecision, event.StepDecision{
			Scope: event.ScopeStep, StepID: "s2", StepDescription: "调研", Reason: "rate limit exceeded (+2 more)", Attempts: attempt, AllowRetry: true,
		})
		if err != nil {
			return err
		}
		ended, plan := event.WorkSkipped, event.WorkOK
		switch answer.Decision {
		case event.TryAgain:
			continue
		case event.GiveUp:
			ended, plan = event.WorkCancelled, event.WorkCancelled
		}
		s.out.Fact(event.PlanStepStatus, event.PlanStepPayload{PlanID: "pln_2", StepID: "s2", Status: ended, Attempts: attempt})
		s.out.Fact(event.PlanEnded, event.PlanEndedPayload{PlanID: "pln_2", Status: plan})
		return s.say(fmt.Sprintf("You said: %s.", answer.Decision))
	}
}
