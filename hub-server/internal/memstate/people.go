package memstate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// perMessage is how many people one message to the other hubs names: some 40 KiB.
const perMessage = 1000

// People knows who has a connection to any hub process: what is held here, and what other hubs have said within forgetAfter. Of what is held each
// hub tells changes at once and everything every few seconds, in parts, so that a word which is lost costs seconds. Safe for concurrent use.
type People struct {
	held    *presence.Held
	hub     string
	bus     Bus
	changed chan struct{}
	asked   chan struct{} // has a value when another hub has begun and knows nobody

	mu     sync.Mutex
	remote map[id.User]map[string]time.Time // when which hub has named them, monotonic
}

// crowd is what hubs tell one another of the people who are connected to them.
type crowd struct {
	Hub  string    `json:"hub"`
	Here []id.User `json:"here,omitempty"` // they have a connection
	Gone []id.User `json:"gone,omitempty"` // they have none any more
	Ends bool      `json:"ends,omitempty"` // the hub stops: nobody has
	Asks bool      `json:"asks,omitempty"` // the hub begins, and wants to hear from the others
}

// NewPeople returns the view of the hub process with that name, which must differ from all others on the bus.
func NewPeople(hub string, bus Bus) *People {
	return &People{
		held: presence.NewHeld(), hub: hub, bus: bus, changed: make(chan struct{}, 1), asked: make(chan struct{}, 1),
		remote: map[id.User]map[string]time.Time{},
	}
}

// Arrived counts a connection that has begun here.
func (p *People) Arrived(u id.User) {
	p.held.Arrived(u)
	signal(p.changed)
}

// Departed counts one that has ended.
func (p *People) Departed(u id.User) {
	p.held.Departed(u)
	signal(p.changed)
}

// Changed implements presence.Crowd.
func (p *People) Changed() <-chan struct{} { return p.changed }

// Present implements presence.Crowd.
func (p *People) Present() map[id.User]struct{} {
	here, _ := p.held.People()
	present := make(map[id.User]struct{}, len(here))
	for _, u := range here {
		present[u] = struct{}{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for u, hubs := range p.remote {
		for hub, at := range hubs {
			if time.Since(at) >= forgetAfter {
				delete(hubs, hub)
			}
		}
		if len(hubs) == 0 {
			delete(p.remote, u)
			continue
		}
		present[u] = struct{}{}
	}
	return present
}

// Run tells the other hubs who is here and listens to them, until ctx ends.
func (p *People) Run(ctx context.Context) error {
	stop, err := p.bus.Listen(ctx, subject.Pattern(subject.People), p.hear)
	if err != nil {
		return fmt.Errorf("listen for people: %w", err)
	}
	defer stop()
	p.tell(crowd{Asks: true})
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		p.tellAll()
		if !p.tellChanges(ctx, tick.C) {
			p.tell(crowd{Ends: true})
			return nil
		}
	}
}

// tellChanges tells who comes and goes until it is time to tell everything; false at the end of ctx.
func (p *People) tellChanges(ctx context.Context, everything <-chan time.Time) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-everything:
			return true
		case <-p.asked:
			return true
		case <-p.held.Changed():
			came, went := p.held.Moves()
			for part := range slices.Chunk(came, perMessage) {
				p.tell(crowd{Here: part})
			}
			for part := range slices.Chunk(went, perMessage) {
				p.tell(crowd{Gone: part})
			}
		}
	}
}

func (p *People) tellAll() {
	here, _ := p.held.People()
	for part := range slices.Chunk(here, perMessage) {
		p.tell(crowd{Here: part})
	}
}

// tell may fail while the bus is away: everything is told again soon.
func (p *People) tell(what crowd) {
	what.Hub = p.hub
	data, err := json.Marshal(what)
	if err == nil {
		p.bus.Publish(subject.People, data) //nolint:errcheck // told again soon
	}
}

func (p *People) hear(_ subject.Subject, data []byte) {
	var what crowd
	if json.Unmarshal(data, &what) != nil || what.Hub == p.hub || what.Hub == "" {
		return
	}
	if what.Asks {
		signal(p.asked)
	}
	if p.learn(what) {
		signal(p.changed)
	}
}

// learn notes what another hub has said, and says whether that was news.
func (p *People) learn(what crowd) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, u := range what.Here {
		if p.remote[u] == nil {
			p.remote[u], news = map[string]time.Time{}, true
		}
		p.remote[u][what.Hub] = now
	}
	gone := what.Gone
	if what.Ends {
		for u := range p.remote {
			gone = append(gone, u)
		}
	}
	for _, u := range gone {
		if _, named := p.remote[u][what.Hub]; !named {
			continue
		}
		delete(p.remote[u], what.Hub)
		news = true
	}
	return news
}

// signal puts a value into a channel of one, if there is none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // somebody is going to look anyway
	}
}
