package statetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Signals are what hubs tell one another at once.
type Signals interface {
	LoginEnded(f account.Family)
	EdgeRevoked(e id.Edge)
	CommandsWait(e id.Edge)
	EdgeArrived(a fleet.Arrival)
	EdgeDoubted(d fleet.Doubt)
	ContactChanged(p presence.Pair)
	Run(ctx context.Context) error
}

// Ears note what a hub hears. Safe for concurrent use.
type Ears struct {
	mu    sync.Mutex
	heard []string
}

func (e *Ears) note(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, what)
}

// LoginEnded notes the end of a login.
func (e *Ears) LoginEnded(f account.Family) { e.note("login " + string(f)) }

// EdgeRevoked notes the removal of an edge.
func (e *Ears) EdgeRevoked(edge id.Edge) { e.note("revoked " + string(edge)) }

// CommandsWait notes that commands wait for an edge.
func (e *Ears) CommandsWait(edge id.Edge) { e.note("commands " + string(edge)) }

// EdgeArrived notes which connection has taken an edge's lane.
func (e *Ears) EdgeArrived(a fleet.Arrival) { e.note(fmt.Sprintf("arrived %+v", a)) }

// EdgeDoubted notes which connection is doubted.
func (e *Ears) EdgeDoubted(d fleet.Doubt) { e.note(fmt.Sprintf("doubted %+v", d)) }

// ContactChanged notes between whom something has changed.
func (e *Ears) ContactChanged(p presence.Pair) { e.note(fmt.Sprintf("contact %+v", p)) }

// Has says whether that was heard.
func (e *Ears) Has(what string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.heard, what)
}

// Tellers tries that a signal is heard on the other hubs. hubs returns the signals of a number of hub processes and what each hears; the second one
// holds both edges. None runs yet.
func Tellers(t *testing.T, edges [2]id.Edge, hubs func(t *testing.T, n int) ([]Signals, []*Ears)) {
	t.Helper()
	first, edge := edges[0], edges[1] // of the first is said what it takes to know that everybody listens: nothing that is tried
	signals, ears := hubs(t, 3)
	for _, s := range signals {
		start(t, s.Run)
	}
	// A hub hears what is said once it listens.
	for what, say := range map[string]func(){
		"login warm-up":             func() { signals[0].LoginEnded("warm-up") },
		"commands " + string(first): func() { signals[2].CommandsWait(first) },
	} {
		within(t, patience, what, func() bool { say(); return ears[1].Has(what) })
	}
	within(t, patience, "the third listens", func() bool { signals[0].LoginEnded("third"); return ears[2].Has("login third") })
	t.Run("the end of a login is heard everywhere else, soon and by that name", func(t *testing.T) {
		begin := time.Now()
		signals[0].LoginEnded("family")
		for i, e := range ears[1:] {
			within(t, 5*time.Second, "login ended", func() bool { return e.Has("login family") })
			t.Logf("hub %d heard after %s", i+1, time.Since(begin).Round(time.Millisecond))
		}
		if ears[0].Has("login family") {
			t.Error("a hub has heard itself")
		}
	})
	t.Run("the removal of an edge is heard everywhere else", func(t *testing.T) {
		signals[2].EdgeRevoked(edge)
		for _, e := range ears[:2] {
			within(t, 5*time.Second, "edge removed", func() bool { return e.Has("revoked " + string(edge)) })
		}
	})
	t.Run("an arrival and a doubt are heard everywhere else, as they were said", func(t *testing.T) {
		arrival, doubt := fleet.Arrival{Edge: edge, Boot: "b", Fence: 7}, fleet.Doubt{Edge: edge, Fence: 7, Rival: 6}
		signals[2].EdgeArrived(arrival)
		signals[2].EdgeDoubted(doubt)
		for _, e := range ears[:2] {
			within(t, 5*time.Second, "arrival", func() bool { return e.Has(fmt.Sprintf("arrived %+v", arrival)) })
			within(t, 5*time.Second, "doubt", func() bool { return e.Has(fmt.Sprintf("doubted %+v", doubt)) })
		}
	})
	t.Run("a change between two people is heard everywhere else", func(t *testing.T) {
		pair := presence.PairOf(id.NewUser(), id.NewUser())
		signals[1].ContactChanged(pair)
		for _, e := range []*Ears{ears[0], ears[2]} {
			within(t, 5*time.Second, "contact", func() bool { return e.Has(fmt.Sprintf("contact %+v", pair)) })
		}
		if ears[1].Has(fmt.Sprintf("contact %+v", pair)) {
			t.Error("a hub has heard itself")
		}
	})
	t.Run("that commands wait is heard where the edge is", func(t *testing.T) {
		if ears[1].Has("commands " + string(edge)) {
			t.Fatal("heard before it was said")
		}
		signals[2].CommandsWait(edge)
		within(t, 5*time.Second, "commands", func() bool { return ears[1].Has("commands " + string(edge)) })
	})
}
