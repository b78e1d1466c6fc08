package redisstate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	lease      = 10 * time.Second // for so long a hub is believed that does not renew it
	renewEvery = time.Second
)

// Twin is the view of the same that does without Redis.
type Twin interface {
	Arrived(e id.Edge)
	Departed(e id.Edge)
	Online(e id.Edge) bool
	Run(ctx context.Context) error
}

// Presence knows which edges hold an uplink to any hub process, and to which: each hub writes what it holds under a lease and reads what the
// others have written. It is a view, seconds behind at most. What the twin knows counts as well. Safe for concurrent use; no method but Run blocks.
type Presence struct {
	hub  string
	link *Link
	twin Twin
	held *fleet.Held // here

	mu     sync.Mutex
	remote map[id.Edge][]string // hubs that hold one
	read   time.Time            // when remote was read, monotonic
}

// leased is what a hub process says under its lease.
type leased struct {
	Edges []id.Edge `json:"edges"`
}

// NewPresence returns the view of the hub process with that name, which must differ from all others of the store.
func NewPresence(hub string, link *Link, twin Twin) *Presence {
	return &Presence{hub: hub, link: link, twin: twin, held: fleet.NewHeld()}
}

// Online says whether some hub process holds an uplink of the edge.
func (p *Presence) Online(e id.Edge) bool {
	return p.held.Has(e) || p.twin.Online(e) || len(p.Holders(e)) > 0
}

// Holders are the other hub processes that hold an uplink of the edge: one as a rule, for a moment two after the edge has moved.
func (p *Presence) Holders(e id.Edge) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.read) >= lease {
		return nil
	}
	return slices.Clone(p.remote[e])
}

// Arrived records an uplink held here.
func (p *Presence) Arrived(e id.Edge) {
	p.twin.Arrived(e)
	p.held.Arrived(e)
}

// Departed records that an uplink held here has ended.
func (p *Presence) Departed(e id.Edge) {
	p.twin.Departed(e)
	p.held.Departed(e)
}

// Run lets the twin run, and exchanges leases through Redis, until ctx ends.
func (p *Presence) Run(ctx context.Context) error { return supervise.All(ctx, p.twin.Run, p.exchange) }

// exchange renews the lease at each change and every second, and reads those of the others, until ctx ends.
func (p *Presence) exchange(ctx context.Context) error {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		if err := p.renew(ctx); err == nil {
			p.look(ctx) //nolint:errcheck // the link has said so, and the next tick repeats it
		}
		select {
		case <-ctx.Done():
			p.leave(ctx)
			return nil
		case <-tick.C:
		case <-p.held.Changed():
		}
	}
}

func (p *Presence) renew(ctx context.Context) error {
	content, err := json.Marshal(leased{p.held.Edges()})
	if err != nil {
		return fmt.Errorf("encode lease: %w", err)
	}
	keys := p.link.keys
	return p.link.do(ctx, commandLimit, func(ctx context.Context) error {
		_, err := p.link.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, keys.lease(p.hub), content, lease)
			pipe.SAdd(ctx, keys.hubs(), p.hub)
			pipe.PExpire(ctx, keys.hubs(), lifeFor)
			return nil
		})
		return err
	})
}

func (p *Presence) leave(ctx context.Context) {
	keys := p.link.keys
	p.link.do(ctx, commandLimit, func(ctx context.Context) error { //nolint:errcheck // the lease expires
		_, err := p.link.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Del(ctx, keys.lease(p.hub))
			pipe.SRem(ctx, keys.hubs(), p.hub)
			return nil
		})
		return err
	})
}

// look reads the leases of the other hubs. One that has expired is struck off the set of hubs; a hub that was only paused comes back with its next
// renewal.
func (p *Presence) look(ctx context.Context) error {
	return p.link.do(ctx, commandLimit, func(ctx context.Context) error {
		hubs, err := p.link.client.SMembers(ctx, p.link.keys.hubs()).Result()
		if err != nil {
			return err
		}
		hubs = slices.DeleteFunc(hubs, func(hub string) bool { return hub == p.hub })
		leases, gone, err := p.leases(ctx, hubs)
		if err != nil {
			return err
		}
		p.learn(leases)
		if len(gone) == 0 {
			return nil
		}
		return p.link.client.SRem(ctx, p.link.keys.hubs(), gone...).Err()
	})
}

func (p *Presence) leases(ctx context.Context, hubs []string) (leases map[string][]id.Edge, gone []any, err error) {
	leases = map[string][]id.Edge{}
	if len(hubs) == 0 {
		return leases, nil, nil
	}
	names := make([]string, len(hubs))
	for i, hub := range hubs {
		names[i] = p.link.keys.lease(hub)
	}
	values, err := p.link.client.MGet(ctx, names...).Result()
	if err != nil {
		return nil, nil, err
	}
	for i, hub := range hubs {
		var content leased
		text, ok := values[i].(string)
		if !ok || json.Unmarshal([]byte(text), &content) != nil {
			gone = append(gone, hub)
			continue
		}
		leases[hub] = content.Edges
	}
	return leases, gone, nil
}

func (p *Presence) learn(leases map[string][]id.Edge) {
	remote := map[id.Edge][]string{}
	for hub, edges := range leases {
		for _, e := range edges {
			remote[e] = append(remote[e], hub)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remote, p.read = remote, time.Now()
}
