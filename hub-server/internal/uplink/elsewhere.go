package uplink

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// cloned is why both of two machines are turned away.
func cloned() error {
	return fault.New(fault.EdgeRefused, "Two machines use this edge's identity at once. Stop one of them, then start the other again.")
}

// ArrivedElsewhere hears that a connection at another hub has taken an edge's lane. One that is held here is over, unless it belongs to another
// process that is alive: then the edge's folder was copied to a second machine, and the other hub is asked whether there is one behind its connection
// too. An arrival of before the one here, heard late, is nothing. It does not block.
func (h *Handler) ArrivedElsewhere(a fleet.Arrival) {
	held := h.lanes.holder(a.Edge)
	if held.lane == nil || held.lane.fence.Load() == 0 || a.Fence <= held.lane.fence.Load() {
		return
	}
	if held.boot == a.Boot {
		held.lane.end(errReplaced)
		return
	}
	h.aside(func() {
		if held.lane.answers(h.stopping) {
			h.Others.EdgeDoubted(fleet.Doubt{Edge: a.Edge, Fence: a.Fence, Rival: held.lane.fence.Load()})
		} else {
			held.lane.end(errReplaced)
		}
	})
}

// Doubted hears that the process behind a connection may be one of two. If it is alive, both are turned away. It does not block.
func (h *Handler) Doubted(d fleet.Doubt) {
	l := h.lanes.of(d.Edge)
	if l == nil || d.Fence == 0 || l.fence.Load() != d.Fence {
		return
	}
	h.aside(func() {
		if !l.answers(h.stopping) {
			l.end(errStuck)
			return
		}
		l.end(cloned())
		if d.Rival != 0 {
			h.Others.EdgeDoubted(fleet.Doubt{Edge: d.Edge, Fence: d.Rival})
		}
	})
}

// aside does what may take a moment while whoever told of it goes on.
func (h *Handler) aside(do func()) {
	if h.stopping.Err() == nil {
		h.running.Go(do)
	}
}
