package cards_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// However much has ended since, a closed card is remembered while something is below it, and while its real end may follow.
func TestACardIsRememberedAsLongAsItIsNeeded(t *testing.T) {
	w := watch(t)
	w.says(0, event.RunStarted, `{}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"spawner","tool_name":"Agent"}`)
	w.says(0, event.TaskStarted, `{"agent_id":"sub","name":"helper","agent_type":"async","tool_call_id":"spawner"}`)
	w.says(0, event.ToolCompleted, `{"tool_call_id":"spawner","result":1}`)
	w.says(0, event.ToolStarted, `{"tool_call_id":"orphan","tool_name":"Bash"}`)
	w.says(2*time.Minute, event.RunCardOrphaned, `{"card_id":"orphan","card_kind":"tool","timeout_ms":120000}`)
	for i := range 200 {
		w.says(0, event.ToolStarted, fmt.Sprintf(`{"tool_call_id":"call_%d","tool_name":"Bash"}`, i))
		w.says(0, event.ToolCompleted, fmt.Sprintf(`{"tool_call_id":"call_%d","result":1}`, i))
	}
	got := w.says(0, event.ToolCompleted, `{"tool_call_id":"orphan","result":1}`)
	if len(got) != 1 {
		t.Errorf("%d events for the end of a card that was given up, want its close", len(got))
	}
	w.says(9*time.Minute, event.StatusChange, `{"agent_id":"sub","stage":"busy"}`)
	w.due(always, "turn_0000000000000001", 600*time.Second) // renewed through the closed call between them; the agent's is as far
	for _, f := range w.says(0, event.RunCompleted, `{}`) {
		e, err := card.Decode(f.Bytes)
		if err != nil || e.Type != card.Close {
			t.Errorf("%s, %v", f.Bytes, err)
		}
	}
}

// Sub-agents that are through make room for others; one that is named again is a new one.
func TestASubAgentThatIsThroughMakesRoom(t *testing.T) {
	w := watch(t)
	w.says(0, event.RunStarted, `{}`)
	for i := range 300 {
		w.says(0, event.TaskStarted, fmt.Sprintf(`{"agent_id":"sub_%d","name":"helper"}`, i))
		w.says(0, event.MessageStarted, fmt.Sprintf(`{"message_id":"msg_%d","agent_id":"sub_%d"}`, i, i))
		w.says(0, event.SubAgentStatus, fmt.Sprintf(`{"agent_id":"sub_%d","status":"ok"}`, i))
	}
	if size := len(w.state.Encode()); size > 32<<10 {
		t.Errorf("%d bytes are remembered", size)
	}
	if got := w.says(0, event.ToolStarted, `{"tool_call_id":"a","tool_name":"Bash","agent_id":"sub_299"}`); len(got) != 1 {
		t.Errorf("%d events in a sub-agent that is still known, want the call", len(got))
	}
	if got := w.says(0, event.ToolStarted, `{"tool_call_id":"b","tool_name":"Bash","agent_id":"sub_0"}`); len(got) != 2 {
		t.Errorf("%d events in a sub-agent that is forgotten, want its card and the call", len(got))
	}
}

// A call may end, and its agent too, while a person is asked about it: the trace goes on from its checkpoint, and the answer is told.
func TestACallThatAQuestionIsAboutIsRememberedThoughItHasEnded(t *testing.T) {
	for name, more := range map[string]func(w *watched, i int){
		"many calls end": func(w *watched, i int) {
			w.says(0, event.ToolStarted, fmt.Sprintf(`{"tool_call_id":"call_%d","tool_name":"Bash"}`, i))
			w.says(0, event.ToolCompleted, fmt.Sprintf(`{"tool_call_id":"call_%d","result":1}`, i))
		},
		"many sub-agents end": func(w *watched, i int) {
			w.says(0, event.TaskStarted, fmt.Sprintf(`{"agent_id":"sub_%d","name":"helper"}`, i))
			w.says(0, event.SubAgentStatus, fmt.Sprintf(`{"agent_id":"sub_%d","status":"ok"}`, i))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := watch(t)
			w.says(0, event.RunStarted, `{}`)
			w.says(0, event.TaskStarted, `{"agent_id":"sub","name":"helper"}`)
			w.says(0, event.ToolStarted, `{"tool_call_id":"a","tool_name":"Bash","agent_id":"sub"}`)
			w.says(0, event.PromptRequested, `{"request_id":"req_0000000000000001","tool_name":"Bash","input":{},"tool_call_id":"a","asks":"person"}`)
			w.says(0, event.ToolFailed, `{"tool_call_id":"a","error":{"code":"agent_error","message":"no"},"agent_id":"sub"}`)
			w.says(0, event.SubAgentStatus, `{"agent_id":"sub","status":"ok"}`)
			for i := range 200 {
				more(w, i)
			}
			got := w.says(0, event.PromptAnswered, `{"request_id":"req_0000000000000001","decision":"allow","by":"person"}`)
			if len(got) != 1 {
				t.Errorf("%d events for the answer, want the reply: the call has ended", len(got))
			}
		})
	}
}

// Room is made for a card by others than the one below which it stands: the trace can go on from its checkpoint.
func TestRoomIsMadeForACardWithoutWhatItStandsBelow(t *testing.T) {
	for name, play := range map[string]func(says func(event.Type, string)){
		"a step, for which the plan is the oldest card": func(says func(event.Type, string)) {
			says(event.Plan, `{"plan_id":"p"}`)
			for i := range 16 {
				says(event.ToolStarted, fmt.Sprintf(`{"tool_call_id":"call_%d","tool_name":"Bash"}`, i))
				says(event.ToolCompleted, fmt.Sprintf(`{"tool_call_id":"call_%d","result":1}`, i))
			}
			for i := range 1182 {
				says(event.Todo, fmt.Sprintf(`{"todo_id":"%d","subject":"x"}`, i))
			}
			says(event.PlanStepStatus, `{"plan_id":"p","step_id":"s","status":"running"}`)
		},
		"a sub-agent of one that has ended": func(says func(event.Type, string)) {
			for i := range 127 {
				says(event.TaskStarted, fmt.Sprintf(`{"agent_id":"sub_%d","name":"helper"}`, i))
				says(event.SubAgentStatus, fmt.Sprintf(`{"agent_id":"sub_%d","status":"ok"}`, i))
			}
			says(event.TaskStarted, `{"agent_id":"sub_new","parent_agent_id":"sub_0","name":"helper"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, place := cards.New(trace, session, card.English), int64(0)
			play(func(kind event.Type, payload string) {
				place++
				s.Apply(cards.Fact{Place: place, Run: cards.Run{ID: theRun}, Event: kind, Payload: json.RawMessage(payload)})
			})
			if _, err := cards.Restore(s.Encode()); err != nil {
				t.Error(err)
			}
		})
	}
}
