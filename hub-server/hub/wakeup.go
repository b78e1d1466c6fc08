package hub

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// committed passes on what a commit has changed: at once here, by a hint on the bus elsewhere. A lost hint costs the others a poll.
func (h *Hub) committed(c sqlstore.Committed) {
	if c.Head > 0 {
		h.services.tail.Wake()
		h.hint(subject.WakeOutbox, nil)
	}
	for _, edge := range c.Edges {
		h.services.uplink.Wake(edge)
		if !h.alone() {
			h.services.signals.CommandsWait(edge)
		}
	}
}

// revoked closes the tunnel of an edge whose credential was taken back, wherever it is.
func (h *Hub) revoked(edge id.Edge) {
	h.services.uplink.Disconnect(edge)
	h.services.signals.EdgeRevoked(edge)
}

// loginEnded closes the sockets of a login that has ended, wherever they are.
func (h *Hub) loginEnded(f account.Family) {
	h.services.gate.CloseFamily(f)
	h.services.signals.LoginEnded(f)
}

func (h *Hub) hint(s subject.Subject, data []byte) {
	if h.hubBus == h.local {
		return // no other hub would hear it
	}
	if err := h.hubBus.Publish(s, data); err != nil {
		h.log.Debug("hint to other hubs was lost", "subject", string(s), "error", err)
	}
}

// listenForWakeups hears that another hub has committed.
func (h *Hub) listenForWakeups(ctx context.Context) error {
	stop, err := h.hubBus.Listen(ctx, subject.Pattern(subject.WakeOutbox), func(subject.Subject, []byte) { h.services.tail.Wake() })
	if err != nil {
		return err
	}
	defer stop()
	<-ctx.Done()
	return nil
}
