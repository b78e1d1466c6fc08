package uplink

import (
	"context"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// registry knows the greeted lane of each edge that this process holds.
type registry struct {
	mu     sync.Mutex
	byEdge map[id.Edge]holder
}

type holder struct {
	lane *lane
	boot wire.BootNonce
}

// of returns the edge's lane, or nil.
func (r *registry) of(e id.Edge) *lane {
	return r.holder(e).lane
}

func (r *registry) holder(e id.Edge) holder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byEdge[e]
}

func (r *registry) put(h holder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byEdge[h.lane.edge] = h
}

// remove forgets l unless another lane has taken its place.
func (r *registry) remove(l *lane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byEdge[l.edge].lane == l {
		delete(r.byEdge, l.edge)
	}
}

// take makes l the edge's lane. An older connection of the same edge process, or one that no longer answers, is closed. If it is
// another process and both are alive, the edge's folder was copied to a second machine: then both are refused until a person stops one.
// A hello may have been stuck for longer than its process has lived: who does not answer after it is not alive.
func (r *registry) take(ctx context.Context, l *lane, boot wire.BootNonce) error {
	old := r.holder(l.edge)
	if old.lane != nil && old.lane != l {
		if old.boot != boot && old.lane.answers(ctx) {
			if !l.answers(ctx) {
				return errStuck
			}
			old.lane.end(cloned())
			return cloned()
		}
		old.lane.end(errReplaced)
	}
	r.put(holder{l, boot})
	return nil
}
