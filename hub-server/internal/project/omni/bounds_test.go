package omni_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// size is how much a fold stores.
func size(t *testing.T, s *omnifold.State) int {
	t.Helper()
	form, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return len(form)
}

func asking(request, more string) string {
	return `{"request_id":"` + request + `","kind":"permission","tool_name":"write","digest":"x","asks":"person",` + more + `}`
}

// TestLargeInputsOfPermissionsAreNotKept has inputs of some MiB, inline and in a blob, and one whose blob is not to be had.
func TestLargeInputsOfPermissionsAreNotKept(t *testing.T) {
	small := `{"text":"` + strings.Repeat("a", 60<<10) + `"}`
	large := `{"text":"` + strings.Repeat("a", 2<<20) + `"}`
	s := begun().run(event.PromptRequested, asking("req_1", `"tool_call_id":"a","input":`+small)).
		run(event.PromptRequested, asking("req_2", `"tool_call_id":"b","input":`+large))
	for request, blobs := range map[string]map[string]string{"req_3": {"x": small}, "req_4": {"x": large}, "req_5": nil} {
		s.add(omnifold.Fact{
			Run: omnifold.Run{ID: theRun}, Event: event.PromptRequested, Blobs: blobs,
			Payload: json.RawMessage(asking(request, `"tool_call_id":"`+request+`","input_blob":{"sha256":"x","size":5}`)),
		})
	}
	state := after(s)
	for _, a := range state.Asks() {
		whole := a.Request == "req_1" || a.Request == "req_3"
		if whole && (a.Cut || a.Input != small) || !whole && (!a.Cut || a.Input != "") {
			t.Errorf("%s has an input of %d bytes, cut %t", a.Request, len(a.Input), a.Cut)
		}
	}
	if n := size(t, state); len(state.Asks()) != 5 || n > 256<<10 {
		t.Errorf("%d asks in %d bytes", len(state.Asks()), n)
	}
}

// TestDecisionsAreOfTheCallsOfTheirAgent has sub-agents, and the run's own agent, with calls of one id.
func TestDecisionsAreOfTheCallsOfTheirAgent(t *testing.T) {
	calls := func(who string) string {
		return `{"agent_id":"` + who + `","tool_call_id":"c","tool_name":"bash","arguments":{}}`
	}
	denied := func(s *scene, who string) *scene {
		return s.run(event.PromptRequested, asking("req_"+who, `"agent_id":"`+who+`","tool_call_id":"c","input":{}`)).
			run(event.PromptAnswered, `{"request_id":"req_`+who+`","decision":"deny","by":"person"}`)
	}
	for name, s := range map[string]*scene{
		"before any call":           denied(begun(), "a").run(event.ToolStarted, calls("b")).run(event.ToolStarted, calls("a")),
		"while another's is open":   denied(begun().run(event.ToolStarted, calls("b")), "a").run(event.ToolStarted, calls("a")),
		"while the run's own is":    denied(begun().run(event.ToolStarted, calls("")), "a").run(event.ToolStarted, calls("a")),
		"of the run's own, earlier": denied(begun(), "").run(event.ToolStarted, calls("a")).run(event.ToolStarted, calls("")),
	} {
		who := []string{string(theRun) + "/a"}
		if strings.HasPrefix(name, "of the run's own") {
			who = nil
		}
		decisions := 0
		for _, m := range fold(s.facts) {
			if m.PayloadType() != omni.TypeApprovalDecision {
				continue
			}
			decisions++
			if !slices.Equal(m.Origin(), who) {
				t.Errorf("%s: the decision is told in %v", name, m.Origin())
			}
		}
		if decisions != 1 {
			t.Errorf("%s: %d decisions", name, decisions)
		}
	}
}

// TestAsksOfOneIDAreOfTheirAgents has a permission for a call that has not begun, while others have calls of the same id.
func TestAsksOfOneIDAreOfTheirAgents(t *testing.T) {
	s := begun().calls("c").run(event.PromptRequested, asking("req_1", `"tool_call_id":"c","input":{}`)).
		run(event.PromptRequested, asking("req_2", `"agent_id":"a","tool_call_id":"c","input":{}`))
	asks := after(s).Asks()
	s.run(event.ToolStarted, `{"agent_id":"a","tool_call_id":"c","tool_name":"write","arguments":{}}`)
	for when, asks := range map[string][]omnifold.Ask{"before": asks, "after": after(s).Asks()} {
		if len(asks) != 2 || asks[0].ToolCallID != "c" || asks[0].Origin != nil || asks[1].ToolCallID != "c" || !slices.Equal(asks[1].Origin, []string{string(theRun) + "/a"}) {
			t.Errorf("%s the call: %+v", when, asks)
		}
	}
}

// TestManySubAgentsAndCallsAreBounded has a run with more of both than anybody needs: what is kept is bounded, and the stream is right.
func TestManySubAgentsAndCallsAreBounded(t *testing.T) {
	s := begun()
	for i := range 1500 {
		sub := fmt.Sprintf(`"agent_id":"sub_%d"`, i)
		s.run(event.TaskStarted, `{`+sub+`,"task_prompt":"Count."}`).
			run(event.ToolStarted, fmt.Sprintf(`{%s,"tool_call_id":"own_%d","tool_name":"bash","arguments":{}}`, sub, i))
		if i%2 == 0 {
			s.run(event.SubAgentStatus, `{`+sub+`,"status":"ok"}`)
		}
	}
	for i := range 3000 {
		s.run(event.ToolStarted, fmt.Sprintf(`{"tool_call_id":"call_%d","tool_name":"bash","arguments":{}}`, i))
	}
	if n := size(t, after(s)); n > 1<<20 {
		t.Errorf("the fold has %d bytes", n)
	}
	stream := fold(s.run(event.RunCompleted, `{}`).facts)
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
	sessions := map[string]bool{}
	calls, outputs := 0, 0
	for _, m := range stream {
		sessions[strings.Join(m.Origin(), " ")] = true
		switch m.PayloadType() {
		case omni.TypeToolCall:
			calls++
		case omni.TypeToolCallOutput:
			outputs++
		}
	}
	if len(sessions) != 1026 || calls != 4500 || outputs != calls {
		t.Errorf("%d sessions, %d calls, %d outputs", len(sessions), calls, outputs)
	}
}

// TestCallsOfAnotherTaskHaveOtherNames has a sub-agent that is given a task again, and uses its ids again.
func TestCallsOfAnotherTaskHaveOtherNames(t *testing.T) {
	s := begun()
	for range 2 {
		s.run(event.TaskStarted, `{"agent_id":"a","task_prompt":"Count."}`)
		for range 2 {
			s.run(event.ToolStarted, `{"agent_id":"a","tool_call_id":"c","tool_name":"bash","arguments":{}}`).
				run(event.ToolCompleted, `{"agent_id":"a","tool_call_id":"c","result":"x","result_checksum":"x"}`)
		}
		s.run(event.SubAgentStatus, `{"agent_id":"a","status":"ok"}`)
	}
	stream := fold(s.run(event.RunCompleted, `{}`).facts)
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
	var names []string
	for _, m := range stream {
		if body, err := m.Body(); err != nil {
			t.Fatal(err)
		} else if call, ok := body.(omni.ToolCallPayload); ok {
			names = append(names, call.ToolCallID)
		}
	}
	same(t, "names", names, []string{"c", "c#2", "c@2", "c@2#2"})
}

// TestWhatIsBeingWrittenIsBounded has many calls written at once, and many that were written and have not begun.
func TestWhatIsBeingWrittenIsBounded(t *testing.T) {
	piece := strings.Repeat("a", 1<<19)
	s := begun()
	for i := range 30 {
		s.writes(fmt.Sprintf("w_%d", i), "write", piece)
	}
	if n := size(t, after(s)); n > 5<<20 {
		t.Errorf("the fold has %d bytes of what is being written", n)
	}
	for i := range 10 {
		s.run(event.RequestBegin, `{"request_id":"r"}`).writes(fmt.Sprintf("m_%d", i), "write", `{\"a\":\"`+piece+`\"}`).
			run(event.RequestEnd, `{"request_id":"r","status":"completed"}`)
	}
	if n := size(t, after(s)); n > 1<<20 {
		t.Errorf("the fold has %d bytes of what was written", n)
	}
	s.run(event.ToolStarted, `{"tool_call_id":"m_3","tool_name":"write","arguments":{ "a" : "`+piece+`" }}`)
	stream := fold(s.run(event.RunCompleted, `{}`).facts)
	if err := omni.CheckStream(stream); err != nil {
		t.Error(err)
	}
	for _, m := range stream {
		if strings.Contains(string(m.Payload()), "m_3#2") {
			t.Fatal("the call is told twice")
		}
	}
}

// BenchmarkManySubAgents is what a result costs when its run has had many sub-agents.
func BenchmarkManySubAgents(b *testing.B) {
	s := begun()
	for i := range 2000 {
		sub := fmt.Sprintf(`"agent_id":"sub_%d"`, i)
		s.run(event.TaskStarted, `{`+sub+`,"task_prompt":"Count."}`).run(event.SubAgentStatus, `{`+sub+`,"status":"ok"}`)
	}
	state := omnifold.New(conversationID)
	for _, f := range s.facts {
		state.Apply(f)
	}
	place := int64(len(s.facts))
	apply := func(t event.Type, payload string) {
		place++
		state.Apply(omnifold.Fact{Place: place, Run: omnifold.Run{ID: theRun}, Event: t, Payload: json.RawMessage(payload)})
	}
	for b.Loop() {
		apply(event.ToolStarted, `{"tool_call_id":"c","tool_name":"bash","arguments":{}}`)
		apply(event.ToolCompleted, `{"tool_call_id":"c","result":"x","result_checksum":"x"}`)
	}
}
