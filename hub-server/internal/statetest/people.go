package statetest

import (
	"context"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Crowd knows which people are connected to any hub.
type Crowd interface {
	presence.Crowd
	Run(ctx context.Context) error
}

// OnlineIn is a crowd as a Presence.
func OnlineIn(c Crowd) Presence[id.User] { return people{c} }

type people struct{ Crowd }

// Online says whether somebody is present.
func (p people) Online(u id.User) bool {
	_, present := p.Present()[u]
	return present
}

// Crowds tries that hubs know who is connected to others, and say so when that changes. hubs returns the views of a number of hub processes that can
// hear one another; none runs yet.
func Crowds(t *testing.T, hubs func(t *testing.T, n int) []Crowd) {
	t.Helper()
	Presences(t, id.NewUser, func(t *testing.T, n int) (all []Presence[id.User]) {
		t.Helper()
		for _, c := range hubs(t, n) {
			all = append(all, OnlineIn(c))
		}
		return all
	})
	t.Run("whoever comes or goes is told of, here and elsewhere", func(t *testing.T) { told(t, hubs(t, 2)) })
	t.Run("a crowd is known whole", func(t *testing.T) { whole(t, hubs(t, 2)) })
}

func told(t *testing.T, hubs []Crowd) {
	for _, h := range hubs {
		start(t, h.Run)
	}
	here, there := hubs[0], hubs[1]
	ada := id.NewUser()
	until := func(c Crowd, want bool) {
		t.Helper()
		within(t, patience, "told of a change", func() bool {
			select {
			case <-c.Changed():
				return people{c}.Online(ada) == want
			default:
				return false
			}
		})
	}
	here.Arrived(ada)
	until(here, true)
	until(there, true)
	here.Departed(ada)
	until(here, false)
	until(there, false)
}

// crowdSize is more than one message, or one part of one, names.
const crowdSize = 2500

func whole(t *testing.T, hubs []Crowd) {
	start(t, hubs[0].Run)
	want := map[id.User]struct{}{}
	for range crowdSize {
		u := id.NewUser()
		want[u] = struct{}{}
		hubs[0].Arrived(u)
	}
	start(t, hubs[1].Run)
	within(t, patience, "everybody is known at the other hub", func() bool {
		present := hubs[1].Present()
		for u := range want {
			if _, known := present[u]; !known {
				return false
			}
		}
		return len(present) == len(want)
	})
	for u := range want {
		hubs[0].Departed(u)
	}
	within(t, patience, "nobody is left", func() bool { return len(hubs[1].Present()) == 0 })
}
