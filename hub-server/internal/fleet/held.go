package fleet

import (
	"maps"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Held counts the uplinks of edges that this hub process holds: for a moment an edge may have two. Safe for concurrent use.
type Held struct {
	changed chan struct{}

	mu    sync.Mutex
	edges map[id.Edge]int
}

// NewHeld returns an empty count.
func NewHeld() *Held { return &Held{changed: make(chan struct{}, 1), edges: map[id.Edge]int{}} }

// Arrived counts an uplink that has begun.
func (h *Held) Arrived(e id.Edge) { h.count(e, +1) }

// Departed counts an uplink that has ended.
func (h *Held) Departed(e id.Edge) { h.count(e, -1) }

// Changed has a value when an uplink has begun or ended since somebody took one. Any number of changes are one.
func (h *Held) Changed() <-chan struct{} { return h.changed }

// Has says whether an uplink of the edge is held.
func (h *Held) Has(e id.Edge) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.edges[e] > 0
}

// Edges returns the edges of which one is held; the caller owns the slice.
func (h *Held) Edges() []id.Edge {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.AppendSeq(make([]id.Edge, 0, len(h.edges)), maps.Keys(h.edges))
}

func (h *Held) count(e id.Edge, by int) {
	h.mu.Lock()
	if h.edges[e] += by; h.edges[e] <= 0 {
		delete(h.edges, e)
	}
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default: // somebody is going to look anyway
	}
}
