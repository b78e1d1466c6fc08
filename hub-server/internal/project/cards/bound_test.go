package cards_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// A checkpoint is stored with every page: whatever an agent does, it stays small.
func TestAStateStaysSmallWhateverAnAgentOpens(t *testing.T) {
	const many = 5000
	for name, fact := range map[string]func(i int) (event.Type, string){
		"todos": func(i int) (event.Type, string) { return event.Todo, fmt.Sprintf(`{"todo_id":"%d","subject":"x"}`, i) },
		"sub-agents": func(i int) (event.Type, string) {
			return event.TaskStarted, fmt.Sprintf(`{"agent_id":"sub_%d","name":"x"}`, i)
		},
		"undeclared sub-agents": func(i int) (event.Type, string) {
			return event.MessageDelta, fmt.Sprintf(`{"message_id":"msg_%d","delta":"x","agent_id":"sub_%d"}`, i, i)
		},
		"nested sub-agents": func(i int) (event.Type, string) {
			return event.TaskStarted, fmt.Sprintf(`{"agent_id":"sub_%d","parent_agent_id":"sub_%d","name":"x"}`, i+1, i)
		},
		"messages": func(i int) (event.Type, string) {
			return event.MessageStarted, fmt.Sprintf(`{"message_id":"msg_%d"}`, i)
		},
		"steps": func(i int) (event.Type, string) {
			return event.PlanStepStatus, fmt.Sprintf(`{"plan_id":"p","step_id":"%d","status":"queued"}`, i)
		},
		"ended calls": func(i int) (event.Type, string) {
			return []event.Type{event.ToolStarted, event.ToolCompleted}[i%2], fmt.Sprintf(`{"tool_call_id":"call_%d","tool_name":"x","result":1}`, i/2)
		},
		"topics": func(i int) (event.Type, string) {
			return event.AgentNotice, fmt.Sprintf(`{"topic":"t_%d","summary":"x"}`, i)
		},
		"files": func(i int) (event.Type, string) {
			return event.ArtifactCreated, fmt.Sprintf(`{"artifact_id":"art_%d","filename":"file_%d.md"}`, i, i)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := cards.New(trace, session, card.English)
			run := cards.Run{ID: theRun}
			size := 0
			for i := range many {
				kind, payload := fact(i)
				s.Apply(cards.Fact{Place: int64(i + 1), Run: run, Event: kind, Payload: json.RawMessage(payload)})
				if i%100 == 0 {
					size = max(size, len(s.Encode()))
				}
			}
			if size > 192<<10 {
				t.Errorf("a state of %d bytes", size)
			}
			s.Apply(cards.Fact{Place: many + 1, Run: run, Event: event.RunCompleted, Payload: json.RawMessage(`{}`)})
			if after := len(s.Encode()); after > 64<<10 {
				t.Errorf("%d bytes of a run that has ended", after)
			}
			t.Logf("%d bytes", size)
		})
	}
}
