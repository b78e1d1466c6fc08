package conformance

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// settle turns a yes or no into the answer that a prompt of its kind takes: the first option of a question, a plan as it is, a step left out.
func (r request) settle(a runtime.Answer) agentline.Response {
	response := agentline.Response{RequestID: a.ID, Decision: a.Decision, Reason: a.Message}
	yes := a.Decision == event.Allow
	switch {
	case r.Kind == event.PromptStepDecision && yes:
		response.Decision = event.GoOn
	case r.Kind == event.PromptStepDecision:
		response.Decision = event.GiveUp
	case r.Kind == event.PromptQuestion && yes:
		response.Response = firstChoice(r.Inner)
	}
	return response
}

// firstChoice answers a question that is known to have an answer.
func firstChoice(inner json.RawMessage) json.RawMessage {
	var asked event.Question
	if json.Unmarshal(inner, &asked) != nil {
		return nil
	}
	said := event.QuestionResponse{CustomText: "The check says yes."}
	if len(asked.Options) > 0 {
		said = event.QuestionResponse{SelectedOptions: []string{asked.Options[0].Label}}
	}
	encoded, err := event.Encode(said)
	if err != nil {
		return nil
	}
	return encoded
}
