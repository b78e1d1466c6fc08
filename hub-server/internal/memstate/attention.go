package memstate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// Attention knows what people look at: what was said here, and what other hubs were told and have passed on. Safe for concurrent use; no method but
// Run blocks.
type Attention struct {
	hub string
	bus Bus

	mu     sync.Mutex
	people map[id.User]map[id.Device]glance
}

type glance struct {
	push.Glance
	at time.Time // monotonic
}

// attentive is what hubs tell one another.
type attentive struct {
	Hub  string `json:"hub"`
	Away bool   `json:"away,omitempty"`
	push.Glance
}

// NewAttention returns the view of the hub process with that name, which must differ from all others on the bus.
func NewAttention(hub string, bus Bus) *Attention {
	return &Attention{hub: hub, bus: bus, people: map[id.User]map[id.Device]glance{}}
}

// Look implements push.Attention.
func (a *Attention) Look(_ context.Context, g push.Glance) {
	a.note(g)
	a.tell(attentive{Hub: a.hub, Glance: g})
}

// Away implements push.Attention.
func (a *Attention) Away(_ context.Context, user id.User, device id.Device) {
	a.forget(user, device)
	a.tell(attentive{Hub: a.hub, Away: true, Glance: push.Glance{User: user, Device: device}})
}

// Looking implements push.Attention.
func (a *Attention) Looking(_ context.Context, user id.User) (all []push.Glance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for device, g := range a.people[user] {
		if time.Since(g.at) < push.LooksFor {
			all = append(all, g.Glance)
		} else {
			a.drop(user, device)
		}
	}
	return all
}

// Run hears the other hubs until ctx ends, and forgets who has looked away without a word.
func (a *Attention) Run(ctx context.Context) error {
	stop, err := a.bus.Listen(ctx, subject.Pattern(subject.Attention), a.hear)
	if err != nil {
		return fmt.Errorf("listen for attention: %w", err)
	}
	defer stop()
	tick := time.NewTicker(push.LooksFor)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			a.sweep()
		}
	}
}

// tell may fail while the bus is away: the device says it again soon.
func (a *Attention) tell(what attentive) {
	data, err := json.Marshal(what)
	if err == nil {
		a.bus.Publish(subject.Attention, data) //nolint:errcheck // said again within LooksFor
	}
}

func (a *Attention) hear(_ subject.Subject, data []byte) {
	var what attentive
	if json.Unmarshal(data, &what) != nil || what.Hub == a.hub {
		return
	}
	if what.Away {
		a.forget(what.User, what.Device)
		return
	}
	a.note(what.Glance)
}

func (a *Attention) note(g push.Glance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.people[g.User] == nil {
		a.people[g.User] = map[id.Device]glance{}
	}
	a.people[g.User][g.Device] = glance{g, time.Now()}
}

func (a *Attention) forget(user id.User, device id.Device) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(user, device)
}

func (a *Attention) sweep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for user, devices := range a.people {
		for device, g := range devices {
			if time.Since(g.at) >= push.LooksFor {
				a.drop(user, device)
			}
		}
	}
}

// drop is called under the lock.
func (a *Attention) drop(user id.User, device id.Device) {
	delete(a.people[user], device)
	if len(a.people[user]) == 0 {
		delete(a.people, user)
	}
}
