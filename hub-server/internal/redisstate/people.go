package redisstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// PeopleTwin is the view of the same that does without Redis.
type PeopleTwin interface {
	presence.Crowd
	Run(ctx context.Context) error
}

// Fields of what a hub writes of its people.
const (
	fieldNumber = "number" // another one after each change
	fieldPeople = "people"
)

// People knows who has a connection to any hub process: each hub writes who is connected to it under a lease, when that has changed, and reads what
// others have written anew. What the twin knows counts as well. Safe for concurrent use; no method but Run blocks.
type People struct {
	hub     string
	link    *Link
	twin    PeopleTwin
	held    *presence.Held // here
	changed chan struct{}
	written int64 // number of what Redis has; owned by exchange

	mu     sync.Mutex
	remote map[string]crowd // by hub
	read   time.Time        // when remote was true, monotonic
}

// crowd is who is connected to another hub.
type crowd struct {
	number string
	people []id.User
}

// gatherFor is how long changes wait for more. Over the bus they are told at once.
const gatherFor = 200 * time.Millisecond

// unwritten is the number of what Redis does not have.
const unwritten = -1

// NewPeople returns the view of the hub process with that name, which must differ from all others of the store.
func NewPeople(hub string, link *Link, twin PeopleTwin) *People {
	return &People{hub: hub, link: link, twin: twin, held: presence.NewHeld(), changed: make(chan struct{}, 1), written: unwritten}
}

// Arrived counts a connection that has begun here.
func (p *People) Arrived(u id.User) {
	p.twin.Arrived(u)
	p.held.Arrived(u)
	p.signal()
}

// Departed counts one that has ended.
func (p *People) Departed(u id.User) {
	p.twin.Departed(u)
	p.held.Departed(u)
	p.signal()
}

// Changed implements presence.Crowd.
func (p *People) Changed() <-chan struct{} { return p.changed }

// Present implements presence.Crowd. What Redis said last is forgotten when it has been away for as long as a lease.
func (p *People) Present() map[id.User]struct{} {
	present := p.twin.Present()
	here, _ := p.held.People()
	for _, u := range here {
		present[u] = struct{}{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.read) >= lease {
		return present
	}
	for _, c := range p.remote {
		for _, u := range c.people {
			present[u] = struct{}{}
		}
	}
	return present
}

// Run lets the twin run, and exchanges people through Redis, until ctx ends.
func (p *People) Run(ctx context.Context) error {
	return supervise.All(ctx, p.twin.Run, p.passOn, p.exchange)
}

// passOn says that there is a change when the twin does.
func (p *People) passOn(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.twin.Changed():
			p.signal()
		}
	}
}

// exchange renews the lease and reads those of the others, at each change and every second, until ctx ends.
func (p *People) exchange(ctx context.Context) error {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		if p.renew(ctx) == nil {
			p.look(ctx) //nolint:errcheck // the link has said so, and the next tick repeats it
		}
		select {
		case <-ctx.Done():
			p.leave(ctx)
			return nil
		case <-tick.C:
		case <-p.held.Changed():
			select { // a crowd that comes at once is one change: everybody is written again
			case <-ctx.Done():
			case <-time.After(gatherFor):
			}
		}
	}
}

// renew writes who is here if Redis does not have that, and prolongs the lease.
func (p *People) renew(ctx context.Context) error {
	if p.written == p.held.Number() {
		stands := false
		err := p.link.do(ctx, commandLimit, func(ctx context.Context) (err error) {
			stands, err = p.link.client.PExpire(ctx, p.link.keys.crowd(p.hub), lease).Result()
			return err
		})
		if err != nil || stands {
			return err
		}
	}
	return p.write(ctx)
}

func (p *People) write(ctx context.Context) error {
	people, number := p.held.People()
	content, err := json.Marshal(people)
	if err != nil {
		return fmt.Errorf("encode people: %w", err)
	}
	keys := p.link.keys
	err = p.link.do(ctx, commandLimit, func(ctx context.Context) error {
		_, err := p.link.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.HSet(ctx, keys.crowd(p.hub), fieldNumber, number, fieldPeople, content)
			pipe.PExpire(ctx, keys.crowd(p.hub), lease)
			pipe.SAdd(ctx, keys.crowds(), p.hub)
			pipe.PExpire(ctx, keys.crowds(), lifeFor)
			return nil
		})
		return err
	})
	if p.written = number; err != nil {
		p.written = unwritten
	}
	return err
}

func (p *People) leave(ctx context.Context) {
	keys := p.link.keys
	p.link.do(ctx, commandLimit, func(ctx context.Context) error { //nolint:errcheck // the lease expires
		_, err := p.link.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Del(ctx, keys.crowd(p.hub))
			pipe.SRem(ctx, keys.crowds(), p.hub)
			return nil
		})
		return err
	})
}

// look reads what has changed of the people at other hubs. A hub whose lease has expired is struck off the set; one that was only paused comes back
// with what it writes next.
func (p *People) look(ctx context.Context) error {
	keys := p.link.keys
	return p.link.do(ctx, commandLimit, func(ctx context.Context) error {
		hubs, err := p.link.client.SMembers(ctx, keys.crowds()).Result()
		if err != nil {
			return err
		}
		now := map[string]crowd{}
		var gone []any
		for _, hub := range slices.DeleteFunc(hubs, func(hub string) bool { return hub == p.hub }) {
			c, err := p.crowdOf(ctx, hub)
			switch {
			case errors.Is(err, redis.Nil):
				gone = append(gone, hub)
			case err != nil:
				return err
			default:
				now[hub] = c
			}
		}
		p.learn(now)
		if len(gone) == 0 {
			return nil
		}
		return p.link.client.SRem(ctx, keys.crowds(), gone...).Err()
	})
}

// crowdOf returns who is connected to a hub: what is known if it has not changed; redis.Nil if the hub has no lease.
func (p *People) crowdOf(ctx context.Context, hub string) (crowd, error) {
	key := p.link.keys.crowd(hub)
	number, err := p.link.client.HGet(ctx, key, fieldNumber).Result()
	if err != nil {
		return crowd{}, err
	}
	p.mu.Lock()
	known, ok := p.remote[hub]
	p.mu.Unlock()
	if ok && known.number == number {
		return known, nil
	}
	values, err := p.link.client.HMGet(ctx, key, fieldNumber, fieldPeople).Result()
	if err != nil {
		return crowd{}, err
	}
	number, _ = values[0].(string)
	text, _ := values[1].(string)
	c := crowd{number: number}
	if _, err := strconv.ParseInt(number, 10, 64); err != nil || json.Unmarshal([]byte(text), &c.people) != nil {
		return crowd{}, redis.Nil
	}
	return c, nil
}

func (p *People) learn(now map[string]crowd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := maps.EqualFunc(p.remote, now, func(a, b crowd) bool { return a.number == b.number })
	if p.remote, p.read = now, time.Now(); !same {
		p.signal()
	}
}

func (p *People) signal() {
	select {
	case p.changed <- struct{}{}:
	default: // somebody is going to look anyway
	}
}
