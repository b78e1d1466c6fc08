package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestASubAgentSpeaksInMessagesOfItsOwn(t *testing.T) {
	got := play(
		run.Delta{Text: "I ask. "},
		run.Delta{Text: "It is", Agent: "sub_a"},
		run.Delta{Text: "He says: "},
		run.Delta{Text: " here.", Agent: "sub_a"},
		run.Delta{Text: "hm", Channel: run.Thought, Agent: "sub_b"},
		run.Delta{Text: "there.", Agent: "main"},
		run.Done{Answer: "unused"},
	)
	want := []string{
		`message.started {"message_id":"msg_1","role":"assistant"}`,
		`message.delta {"message_id":"msg_1","content_index":0,"delta":"I ask. "}`,
		`message.started {"message_id":"msg_2","role":"assistant","agent_id":"sub_a"}`,
		`message.delta {"message_id":"msg_2","content_index":0,"delta":"It is","agent_id":"sub_a"}`,
		`message.delta {"message_id":"msg_1","content_index":0,"delta":"He says: "}`,
		`message.delta {"message_id":"msg_2","content_index":0,"delta":" here.","agent_id":"sub_a"}`,
		`message.started {"message_id":"msg_3","role":"assistant","agent_id":"sub_b"}`,
		`run.agent.thinking {"message_id":"msg_3","content_index":0,"delta":"hm","agent_id":"sub_b"}`,
		`message.delta {"message_id":"msg_1","content_index":0,"delta":"there."}`,
		completed("msg_2", "It is here.", `,"agent_id":"sub_a"`),
		completed("msg_3", "", `,"agent_id":"sub_b"`),
		completed("msg_1", "I ask. He says: there.", ""),
		`run.completed {"message_id":"msg_1"}`,
	}
	if all := lines(t, got[1:]); !slices.Equal(all, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

func TestReasoningThatStandsByItselfIsInNoMessage(t *testing.T) {
	got := play(
		run.Delta{Channel: run.Thought, Text: "First the question.", Apart: true},
		run.Delta{Text: "One, "},
		run.Delta{Channel: run.Thought, Text: "hm", Apart: true, Agent: "sub_a"},
		run.Delta{Channel: run.Thought, Text: "Now two.", Block: 1, Apart: true},
		run.Delta{Channel: run.Thought, Text: "or three?"},
		run.Delta{Text: "two.", Apart: true},
		run.Done{},
	)
	want := []string{
		`run.agent.thinking {"message_id":"","content_index":0,"delta":"First the question."}`,
		`message.started {"message_id":"msg_1","role":"assistant"}`,
		`message.delta {"message_id":"msg_1","content_index":0,"delta":"One, "}`,
		`run.agent.thinking {"message_id":"","content_index":0,"delta":"hm","agent_id":"sub_a"}`,
		`run.agent.thinking {"message_id":"","content_index":1,"delta":"Now two."}`,
		`run.agent.thinking {"message_id":"msg_1","content_index":0,"delta":"or three?"}`,
		`message.delta {"message_id":"msg_1","content_index":0,"delta":"two."}`,
		completed("msg_1", "One, two.", ""),
		`run.completed {"message_id":"msg_1"}`,
	}
	if all := lines(t, got[1:]); !slices.Equal(all, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

func completed(message, content, rest string) string {
	text := fmt.Sprintf(`"content":%q,`, content)
	if content == "" {
		text = ""
	}
	return fmt.Sprintf(`message.completed {"message_id":%q,%s"content_checksum":%q%s}`, message, text, event.TextChecksum(content), rest)
}

func TestWhatASubAgentSaidIsNoAnswer(t *testing.T) {
	got := play(run.Delta{Text: "inside", Agent: "sub_a"}, run.Done{Answer: "outside"})
	done := first[event.RunCompletedPayload](t, got, event.RunCompleted)
	if said := got[4].Payload.(event.MessageCompletedPayload); said.Content != "outside" || said.MessageID != done.MessageID || said.AgentID != "" {
		t.Errorf("the answer is %q, said was %+v", done.MessageID, said)
	}
	if got := first[event.RunCompletedPayload](t, play(run.Delta{Text: "inside", Agent: "sub_a"}, run.Done{}), event.RunCompleted); got.MessageID != "" {
		t.Errorf("the answer is %q, but the run's own agent has said nothing", got.MessageID)
	}
}

func TestAnAgentEndsAMessageAndBeginsAnother(t *testing.T) {
	got := play(
		run.Delta{Text: "Let me check:", Last: true}, run.Delta{Last: true}, run.ToolCall{ID: "1", Name: "ls"}, run.ToolResult{ID: "1"},
		run.Delta{Text: "Here."}, run.Done{},
	)
	expect(t, got, event.RunStarted, event.MessageStarted, event.MessageDelta, event.MessageDone, event.ToolStarted, event.ToolCompleted,
		event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunCompleted)
	if done := first[event.RunCompletedPayload](t, got, event.RunCompleted); done.MessageID != "msg_2" {
		t.Errorf("the answer is %q", done.MessageID)
	}
}

func TestToolsPairWithinTheirAgent(t *testing.T) {
	var got []string
	for _, c := range play(
		run.ToolCall{ID: "1", Name: "search"},
		run.ToolCall{ID: "1", Name: "grep", Agent: "sub_a"},
		run.ToolCall{Name: "read", Agent: "sub_b"},
		run.ToolResult{ID: "1", Agent: "sub_a"},
		run.ToolResult{Name: "read"}, // the run's own agent has no such call
		run.ToolResult{Name: "read", Agent: "sub_b"},
		run.ToolResult{ID: "1"},
	)[1:] {
		got = append(got, describe(c)+" "+string(agentOf(c)))
	}
	want := []string{
		"started 1 ", "started 1 sub_a", "started call_1 sub_b", "completed 1 sub_a", "started call_2 ", "completed call_2 ", "completed call_1 sub_b",
		"completed 1 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func agentOf(c run.Candidate) event.SubAgent {
	switch p := c.Payload.(type) {
	case event.ToolStartedPayload:
		return p.AgentID
	case event.ToolCompletedPayload:
		return p.AgentID
	case event.ToolFailedPayload:
		return p.AgentID
	case event.MessageCompletedPayload:
		return p.AgentID
	}
	return ""
}

func TestASubAgentThatEndedLeavesNothingOpen(t *testing.T) {
	for _, payload := range []any{
		event.SubAgentStatusPayload{AgentID: "sub_a", Status: event.WorkOK}, raw(`{"agent_id":"sub_a","status":"cancelled","more":1}`),
	} {
		got := play(
			run.Delta{Text: "outside"}, run.ToolCall{ID: "0"}, run.Delta{Text: "inside", Agent: "sub_a"}, run.ToolCall{ID: "1", Agent: "sub_a"},
			run.Fact{Type: event.SubAgentStatus, Payload: event.SubAgentStatusPayload{AgentID: "sub_a", Status: event.WorkRunning}},
			run.Fact{Type: event.SubAgentStatus, Payload: payload},
		)
		expect(t, got[6:], event.ToolStarted, event.SubAgentStatus, event.MessageDone, event.ToolFailed, event.SubAgentStatus)
	}
	got := play(run.Delta{Text: "x", Agent: "sub_a"}, run.Fact{Type: event.SubAgentStatus, Payload: raw(`{"agent_id":["sub_a"],"status":"ok"}`)})
	expect(t, got[3:], event.SubAgentStatus) // of another shape: kept, and it means nothing
}

func TestSubAgentsEndBeforeTheOneThatMayWaitForThem(t *testing.T) {
	var got []string
	for _, c := range play(run.ToolCall{ID: "0", Name: "Task"}, run.ToolCall{ID: "1", Agent: "sub_a"}, run.Delta{Text: "x"},
		run.Delta{Text: "y", Agent: "sub_a"}, run.Failure{})[7:] {
		got = append(got, describe(c)+" "+string(agentOf(c)))
	}
	want := []string{"message.completed sub_a", "message.completed ", "failed 1 sub_a", "failed 0 ", "run.failed "}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestVeryManySubAgentsAndVeryLongTextsTakeTurns(t *testing.T) {
	n := run.New((&counters{}).options())
	for i := range 64 {
		n.Step(run.Delta{Text: "x", Agent: event.SubAgent(fmt.Sprint("sub_", i))})
	}
	got := n.Step(run.Delta{Text: "x", Agent: "one more"})
	if len(got) != 3 || agentOf(got[2]) != "sub_0" {
		t.Errorf("got %v of %q", types(got), agentOf(got[len(got)-1]))
	}
	chunk := strings.Repeat("x", 16<<10)
	for range 511 {
		n.Step(run.Delta{Text: chunk, Agent: "long"})
	}
	got = n.Step(run.Delta{Text: chunk, Agent: "sub_1"})
	if len(got) != 3 || agentOf(got[2]) != "long" {
		t.Errorf("got %v", types(got))
	}
}

func TestInputOfAToolIsPartOfTheMessage(t *testing.T) {
	got := play(run.Delta{Channel: run.ToolInput, Call: "1", Text: `{"command":`, Agent: "sub_a"}, run.ToolCall{ID: "1", Agent: "sub_a", Intent: "Lists."},
		run.ToolResult{ID: "1", Agent: "sub_a", Metadata: raw(`{"render_hint":"terminal","password":"x"}`)})
	want := []string{
		`message.started {"message_id":"msg_1","role":"assistant","agent_id":"sub_a"}`,
		`run.agent.tool_input {"message_id":"msg_1","tool_call_id":"1","partial_json":"{\"command\":","agent_id":"sub_a"}`,
		`tool.call.started {"tool_call_id":"1","tool_name":"","arguments":{},"intent":"Lists.","agent_id":"sub_a"}`,
	}
	all := lines(t, got[1:])
	if !slices.Equal(all[:3], want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	if done := got[4].Payload.(event.ToolCompletedPayload); string(done.Metadata) != `{"render_hint":"terminal","omitted_keys":["password"]}` {
		t.Errorf("metadata %s", done.Metadata)
	}
	for _, bad := range []string{`[]`, `7`, `{`, `{"a":"` + strings.Repeat("x", 9000) + `"}`} {
		got := play(run.ToolResult{ID: "1", Metadata: raw(bad)})
		if done := got[2].Payload.(event.ToolCompletedPayload); done.Metadata != nil {
			t.Errorf("%.40s became %s", bad, done.Metadata)
		}
	}
}
