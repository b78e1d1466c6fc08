package fleet

import (
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Arrival says that a connection of an edge has taken its lane. Hubs tell one another; the fence says which of two came later, whenever one hears
// of it.
type Arrival struct {
	Edge  id.Edge        `json:"edge"`
	Boot  wire.BootNonce `json:"boot"` // of the edge process
	Fence uint64         `json:"fence"`
}

// Doubt says that two processes may use one edge's identity: the connection with that fence is to prove that its own is alive. If both do, and the
// store agrees, both are refused.
type Doubt struct {
	Edge  id.Edge `json:"edge"`
	Fence uint64  `json:"fence"`
	Rival uint64  `json:"rival,omitempty"` // fence of the connection that has proven it; 0: both have, and the store has the refusal
}
