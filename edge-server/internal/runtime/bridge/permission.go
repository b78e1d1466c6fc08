package bridge

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Answer writes the answer to a request.
func (d *dialogue) Answer(a runtime.Answer) runtime.Reaction {
	var r runtime.Reaction
	respond(a.ToPermission(), &r)
	return r
}

// Control is nothing: the vocabulary of S4 has no word for it.
func (d *dialogue) Control(wire.ControlOrder) runtime.Reaction { return runtime.Reaction{} }

func respond(response bridge.PermissionResponse, r *runtime.Reaction) {
	line, err := response.Encode()
	if err != nil {
		r.Warnings = append(r.Warnings, string(bridge.ReasonBadRequest))
		return
	}
	r.Reply = append(r.Reply, line...)
}
