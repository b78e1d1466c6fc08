package bridge

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// Answer writes the answer to a request.
func (d *dialogue) Answer(a runtime.Answer) runtime.Reaction {
	var r runtime.Reaction
	respond(a.ToPermission(), &r)
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
