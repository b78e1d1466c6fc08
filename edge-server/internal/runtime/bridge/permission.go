package bridge

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// asked passes a request on. It is no tool call in the run's log: the agent has not called the tool yet, and the vocabulary of S4 would never
// say how a call went. The prompt and its answer are the trace of it.
func asked(request bridge.PermissionRequest) runtime.Ask {
	return runtime.Ask{
		ID: request.RequestID, Tool: request.ToolName, Input: request.Input, Description: request.Description, ToolCall: request.ToolUseID,
	}
}

// Answer writes the answer to a request. The agent's own input is never sent back as an updated one (S4): it is there only if somebody changed it.
func (d *dialogue) Answer(a runtime.Answer) runtime.Reaction {
	response := bridge.PermissionResponse{RequestID: a.ID, Behavior: bridge.Deny}
	if a.Decision == event.Allow {
		response.Behavior, response.UpdatedInput = bridge.Allow, a.UpdatedInput
	} else {
		response.Message = a.Message
	}
	var r runtime.Reaction
	respond(response, &r)
	return r
}

func respond(response bridge.PermissionResponse, r *runtime.Reaction) {
	line, err := response.Encode()
	if err != nil {
		r.Warnings = append(r.Warnings, string(bridge.ReasonBadRequest))
		return
	}
	r.Reply = append(r.Reply, line...)
}
