package runtime

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// CheckCall says why a call cannot be put before a client that offers these tools, as a fault for the agent. It gives a call without arguments an
// empty object of them, and the time for which it waits: the tool's own, else that of a tool card (S0 §3.3).
func CheckCall(offered []wire.ClientTool, a *Ask) error {
	if len(a.Input) == 0 {
		a.Input = json.RawMessage(`{}`)
	}
	var args map[string]json.RawMessage
	i := slices.IndexFunc(offered, func(t wire.ClientTool) bool { return t.Name == a.Tool })
	switch {
	case i < 0:
		return fault.New(fault.UnknownTool, "No client of this conversation offers a tool %.64q.", a.Tool)
	case event.Depth(a.Input) > event.MaxValueDepth:
		return fault.New(fault.InvalidInput, "What the tool is called with nests deeper than %d.", event.MaxValueDepth)
	case json.Unmarshal(a.Input, &args) != nil || args == nil:
		return fault.New(fault.InvalidInput, "What the tool is called with must be a JSON object.")
	}
	a.TimeoutMS = cmp.Or(offered[i].TimeoutMS, card.Lookup(card.Tool).Timeout.Milliseconds())
	return nil
}

// Limit is how long a call waits for its client.
func (a Ask) Limit() time.Duration { return time.Duration(a.TimeoutMS) * time.Millisecond }
