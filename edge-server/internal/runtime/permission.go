package runtime

import (
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// AskOf is what a request of the bridge protocol asks. It is no tool call in the run's log: the agent has not called the tool yet, and the
// vocabulary of S4 would never say how a call went. The prompt and its answer are the trace of it.
func AskOf(request bridge.PermissionRequest) Ask {
	return Ask{
		ID: request.RequestID, Tool: request.ToolName, Input: request.Input, Description: request.Description, ToolCall: request.ToolUseID,
	}
}

// ToPermission is the answer in words of the bridge protocol. The agent's own input is never sent back as an updated one (S4): it is there only
// if somebody changed it.
func (a Answer) ToPermission() bridge.PermissionResponse {
	if a.Decision == event.Allow {
		return bridge.PermissionResponse{RequestID: a.ID, Behavior: bridge.Allow, UpdatedInput: a.UpdatedInput}
	}
	return bridge.PermissionResponse{RequestID: a.ID, Behavior: bridge.Deny, Message: a.Message}
}
