// Package memstate holds the volatile state of a hub in memory: which edges are online, and rate limits. Losing it costs a moment
// of wrong answers, never data.
package memstate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
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
	*fleet.Held
	hub string
	bus Bus

	mu     sync.Mutex
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
	return &Presence{Held: fleet.NewHeld(), hub: hub, bus: bus, remote: map[string]heard{}}
}

// Online says whether some hub process holds an uplink of the edge.
func (p *Presence) Online(e id.Edge) bool {
	if p.Has(e) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.remote {
		if h.edges[e] && time.Since(h.at) < forgetAfter {
			return true
		}
	}
	return false
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
		p.announce(p.Edges())
		select {
		case <-ctx.Done():
			p.announce(nil)
			return nil
		case <-tick.C:
		case <-p.Changed():
		}
	}
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
