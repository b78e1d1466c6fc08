package events

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Control writes what the agent is told while it works. Who may be told what is decided before.
func (d *dialogue) Control(o wire.ControlOrder) runtime.Reaction {
	switch o.What {
	case wire.ControlSteer:
		return reply(agentline.Control{Type: agentline.Steer, SteerID: o.SteerID, Text: o.Text}.Encode())
	case wire.ControlRetryNow:
		return reply(agentline.Control{Type: agentline.RetryNow}.Encode())
	case wire.ControlCompact:
		return reply(agentline.Control{Type: agentline.Compact}.Encode())
	}
	return runtime.Reaction{}
}
