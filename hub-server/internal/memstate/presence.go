// Package memstate holds the volatile state of a hub in memory: which edges are online, and rate limits. Losing it costs a moment
// of wrong answers, never data.
package memstate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

const (
	announceEvery = 3 * time.Second
	forgetAfter   = 10 * time.Second // without a word from the hub that held the edge
)

// Bus is what Presence needs to hear of edges that other hub processes hold.
type Bus interface {
	Publish(s subject.Subject, data []byte) error
	Listen(ctx context.Context, p subject.Pattern, h func(subject.Subject, []byte)) (stop func(), err error)
}

// Presence knows which edges hold an uplink to any hub process. It is a view: it may lag by seconds behind the truth of another
// hub, and never by more than a moment behind its own. Safe for concurrent use.
type Presence struct {
	hub     string
	bus     Bus
	changed chan struct{}

	mu     sync.Mutex
	local  map[id.Edge]int // uplinks held here
	remote map[string]heard
}

type heard struct {
	at    time.Time // monotonic
	edges map[id.Edge]bool
}

type announcement struct {
	Hub   string    `json:"hub"`
	Edges []id.Edge `json:"edges"`
}

// NewPresence returns the view of the hub process with that name, which must differ from all others on the bus.
func NewPresence(hub string, bus Bus) *Presence {
	return &Presence{
		hub: hub, bus: bus, changed: make(chan struct{}, 1),
		local: map[id.Edge]int{}, remote: map[string]heard{},
	}
}

// Online says whether some hub process holds an uplink of the edge.
func (p *Presence) Online(e id.Edge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local[e] > 0 {
		return true
	}
	for _, h := range p.remote {
		if h.edges[e] && time.Since(h.at) < forgetAfter {
			return true
		}
	}
	return false
}

// Arrived records an uplink held here, Departed its end.
func (p *Presence) Arrived(e id.Edge) { p.count(e, +1) }

// Departed records that an uplink held here has ended.
func (p *Presence) Departed(e id.Edge) { p.count(e, -1) }

func (p *Presence) count(e id.Edge, by int) {
	p.mu.Lock()
	if p.local[e] += by; p.local[e] <= 0 {
		delete(p.local, e)
	}
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default: // an announcement is due anyway
	}
}

// Run tells the other hubs what is held here, at each change and every few seconds, and listens to them.
func (p *Presence) Run(ctx context.Context) error {
	stop, err := p.bus.Listen(ctx, subject.Pattern(subject.Presence), p.hear)
	if err != nil {
		return fmt.Errorf("listen for presence: %w", err)
	}
	defer stop()
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		p.announce(p.held())
		select {
		case <-ctx.Done():
			p.announce(nil)
			return nil
		case <-tick.C:
		case <-p.changed:
		}
	}
}

func (p *Presence) held() []id.Edge {
	p.mu.Lock()
	defer p.mu.Unlock()
	edges := make([]id.Edge, 0, len(p.local))
	for e := range p.local {
		edges = append(edges, e)
	}
	return edges
}

// announce may fail while the bus is away: the next tick repeats it.
func (p *Presence) announce(edges []id.Edge) {
	data, err := json.Marshal(announcement{Hub: p.hub, Edges: edges})
	if err == nil {
		p.bus.Publish(subject.Presence, data) //nolint:errcheck // repeated by the next tick
	}
}

func (p *Presence) hear(_ subject.Subject, data []byte) {
	var a announcement
	if json.Unmarshal(data, &a) != nil || a.Hub == p.hub {
		return
	}
	edges := make(map[id.Edge]bool, len(a.Edges))
	for _, e := range a.Edges {
		edges[e] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remote[a.Hub] = heard{at: time.Now(), edges: edges}
	for hub, h := range p.remote {
		if time.Since(h.at) >= forgetAfter {
			delete(p.remote, hub)
		}
	}
}
