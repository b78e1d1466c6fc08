package cards

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// imported shows a line of a trace as what an agent of ours would have stated.
func (s *State) imported(f Fact) {
	p, ok := read[event.ImportedPayload](f)
	if !ok {
		return
	}
	m, err := omni.Decode([]byte(p.Line))
	if err != nil {
		return
	}
	said := statedBy(m, f.Place)
	if said.apply == nil {
		return
	}
	if f.Payload, err = event.Encode(said.payload); err == nil {
		said.apply(s, f)
	}
}

// stated is an event with the rule by which it is shown.
type stated struct {
	apply   applier
	payload any
}

// statedBy is the event that a message is, without a rule for one that cards do not show. place makes ids of what has none.
func statedBy(m omni.Message, place int64) stated {
	body, err := m.Body()
	if err != nil {
		return stated{}
	}
	var who event.SubAgent
	if chain := m.Origin(); len(chain) > 0 {
		who = event.SubAgent(chain[len(chain)-1])
	}
	switch b := body.(type) {
	case omni.SessionMetaPayload:
		if who == "" && b.ModelID != "" {
			return stated{(*State).sessionInit, event.SessionInitPayload{AgentSessionID: b.SessionID, Model: b.ModelID}}
		}
	case omni.TextPayload:
		if b.Role == omni.Assistant && b.Text != "" {
			own := id.Message(fmt.Sprintf("imported_%d", place))
			cut := event.RequestStatus(b.StopReason)
			return stated{(*State).messageDone, event.MessageCompletedPayload{MessageID: own, Content: b.Text, AgentID: who, StopReason: cut}}
		}
	case omni.ThinkingPayload:
		return stated{(*State).thinking, event.DeltaPayload{Delta: b.Thinking, AgentID: who}}
	case omni.SubagentPayload:
		sub := event.SubAgent(b.SessionID)
		return stated{(*State).taskStarted, event.TaskStartedPayload{AgentID: sub, Name: b.SessionID, ParentAgentID: who}}
	case omni.CompactionEndPayload:
		if b.Status == omni.Completed {
			return stated{(*State).compaction, event.CompactionPayload{AgentID: who}}
		}
	case omni.ToolCallPayload:
		called := event.ToolStartedPayload{ToolCallID: b.ToolCallID, ToolName: b.Name, Arguments: argumentsOf(b), AgentID: who}
		return stated{(*State).toolStarted, called}
	case omni.ToolCallOutputPayload:
		return returned(b, who)
	}
	return stated{}
}

// argumentsOf are the arguments of a call: what is no JSON is a text.
func argumentsOf(call omni.ToolCallPayload) json.RawMessage {
	if json.Valid([]byte(call.Arguments)) {
		return json.RawMessage(call.Arguments)
	}
	return asText(call.Arguments)
}

func returned(b omni.ToolCallOutputPayload, who event.SubAgent) stated {
	failure := event.ErrorObj{Code: fault.Code(b.StopReason), Message: b.Output}
	switch b.StopReason {
	case "", omni.Completed:
		return stated{(*State).toolCompleted, event.ToolCompletedPayload{ToolCallID: b.ToolCallID, Result: asText(b.Output), AgentID: who}}
	case omni.Aborted:
		failure.Code = fault.Cancelled
	}
	return stated{(*State).toolFailed, event.ToolFailedPayload{ToolCallID: b.ToolCallID, Error: failure, AgentID: who}}
}

// asText is a text as a JSON string.
func asText(text string) json.RawMessage {
	form, err := event.Encode(text)
	if err != nil { // a string can be encoded
		return json.RawMessage(`""`)
	}
	return form
}
