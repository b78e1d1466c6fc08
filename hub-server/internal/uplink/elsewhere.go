package uplink

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// What other hubs say is a hint, and whoever reaches the network between hubs can say it too: it makes this hub look, and at most hang up, after
// which an edge comes back. Before an edge is refused for good, the store has to agree.

// cloned is why both of two machines are turned away.
func cloned() error {
	return fault.New(fault.EdgeRefused, "Two machines use this edge's identity at once. Stop one of them, then start the other again.")
}

// RevokedElsewhere hears that an edge was removed at another hub. It does not block.
func (h *Handler) RevokedElsewhere(e id.Edge) {
	if l := h.lanes.of(e); l != nil {
		l.doubt()
	}
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
	h.aside(func(ctx context.Context) {
		if held.lane.answers(ctx) {
			h.Others.EdgeDoubted(fleet.Doubt{Edge: a.Edge, Fence: a.Fence, Rival: held.lane.fence.Load()})
		} else {
			held.lane.end(errReplaced)
		}
	})
}

// Doubted hears that the process behind a connection may be one of two. If it is alive, what follows is for the hub of the older connection to
// decide: only there the store can tell that another process has taken the lane. It does not block.
func (h *Handler) Doubted(d fleet.Doubt) {
	held := h.lanes.holder(d.Edge)
	if held.lane == nil || d.Fence == 0 || held.lane.fence.Load() != d.Fence {
		return
	}
	h.aside(func(ctx context.Context) {
		if !held.lane.answers(ctx) {
			held.lane.end(errStuck)
		} else if err := h.settle(ctx, held, d); err != nil {
			held.lane.unsettled(err)
		}
	})
}

// settle goes on with a doubt once the process behind the connection here has proven that it is alive.
func (h *Handler) settle(ctx context.Context, held holder, d fleet.Doubt) error {
	known, err := h.Edges.Standing(ctx, d.Edge)
	if err != nil {
		return err
	}
	if known.Refused == fault.EdgeRefused { // since its hello, which takes a refusal back: the other hub has found two
		held.lane.end(cloned())
		return nil
	}
	now, err := h.Lanes.Holder(ctx, d.Edge)
	if err != nil || d.Rival == 0 {
		return err
	}
	switch newest := uint64(now.Fence); {
	case newest == d.Fence && d.Rival < newest:
		h.Others.EdgeDoubted(fleet.Doubt{Edge: d.Edge, Fence: d.Rival, Rival: d.Fence})
	case newest == d.Rival && newest > d.Fence && now.Boot != held.boot:
		return h.refuseBoth(ctx, held, d)
	}
	return nil
}

// refuseBoth turns two machines away: both live, and the store has it that one has taken the lane after the other.
func (h *Handler) refuseBoth(ctx context.Context, held holder, d fleet.Doubt) error {
	if err := h.Edges.Refuse(ctx, d.Edge, fault.EdgeRefused); err != nil {
		return err
	}
	held.lane.end(cloned())
	h.Others.EdgeDoubted(fleet.Doubt{Edge: d.Edge, Fence: d.Rival})
	return nil
}

// unsettled says that the store could not be asked whether the edge may be here.
func (l *lane) unsettled(err error) {
	l.hub.Log.Warn("whether an edge may still be here could not be checked", "edge", l.edge, "error", err)
}

// aside does in bounded time what may take a moment, while whoever told of it goes on.
func (h *Handler) aside(do func(ctx context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping.Err() != nil {
		return
	}
	h.looking.Go(func() {
		ctx, cancel := context.WithTimeout(h.stopping, asideLimit)
		defer cancel()
		do(ctx)
	})
}
