package bridge

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const permissionDenied fault.Code = "permission_denied"

const noPerson = "This edge asks nobody for permission: the tool is denied."

// deny is the policy of this edge: nobody is asked, so nothing is allowed, and the log shows the tool and why it did not run.
func deny(request bridge.PermissionRequest, r *runtime.Reaction) {
	call := request.ToolUseID
	if call == "" {
		call = request.RequestID
	}
	r.Events = append(r.Events,
		run.ToolCall{ID: call, Name: request.ToolName, Args: request.Input},
		run.ToolResult{ID: call, Name: request.ToolName, Error: &event.ErrorObj{Code: permissionDenied, Message: noPerson}},
	)
	respond(bridge.PermissionResponse{RequestID: request.RequestID, Behavior: bridge.Deny, Message: noPerson}, r)
}

func respond(response bridge.PermissionResponse, r *runtime.Reaction) {
	line, err := response.Encode()
	if err != nil {
		r.Warnings = append(r.Warnings, string(bridge.ReasonBadRequest))
		return
	}
	r.Reply = append(r.Reply, line...)
}
