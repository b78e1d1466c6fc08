package statetest

import (
	"context"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Presence knows which edges are connected to any hub.
type Presence interface {
	Arrived(e id.Edge)
	Departed(e id.Edge)
	Online(e id.Edge) bool
	Run(ctx context.Context) error
}

// expiry is how long a hub that fell silent is believed at most, and a little more.
const expiry = 14 * time.Second

// Presences tries that hubs see what others hold. hubs returns the views of a number of hub processes that can hear one another; none runs yet.
func Presences(t *testing.T, hubs func(t *testing.T, n int) []Presence) {
	t.Helper()
	t.Run("what arrives at one is online at all until it departs", func(t *testing.T) { arrivals(t, hubs(t, 2)) })
	t.Run("a hub that comes later learns what is there", func(t *testing.T) { latecomer(t, hubs(t, 2)) })
	t.Run("an edge that moves is online all the while", func(t *testing.T) { moving(t, hubs(t, 3)) })
	t.Run("what a stopping hub held is gone at once", func(t *testing.T) { stopping(t, hubs(t, 2)) })
}

// start runs a part until stop is called or the test ends.
func start(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// within polls until ok holds, and says how long that took.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	const look = 10 * time.Millisecond
	for begin := time.Now(); !ok(); <-time.After(look) {
		if time.Since(begin) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

func arrivals(t *testing.T, hubs []Presence) {
	for _, h := range hubs {
		start(t, h.Run)
	}
	here, there := hubs[0], hubs[1]
	edge, other := id.NewEdge(), id.NewEdge()
	here.Arrived(edge)
	if !here.Online(edge) {
		t.Error("not online at once where it is")
	}
	within(t, patience, "online elsewhere", func() bool { return there.Online(edge) })
	if here.Online(other) || there.Online(other) {
		t.Error("an edge that nobody holds is online")
	}
	here.Arrived(edge) // a second connection, before the first has ended
	here.Departed(edge)
	there.Arrived(other)
	within(t, patience, "the other online", func() bool { return here.Online(other) })
	if !here.Online(edge) || !there.Online(edge) {
		t.Error("not online with one of two connections left")
	}
	here.Departed(edge)
	if here.Online(edge) {
		t.Error("online at once where it was")
	}
	within(t, patience, "offline elsewhere", func() bool { return !there.Online(edge) })
}

func latecomer(t *testing.T, hubs []Presence) {
	start(t, hubs[0].Run)
	edge := id.NewEdge()
	hubs[0].Arrived(edge)
	start(t, hubs[1].Run)
	within(t, patience, "online for the latecomer", func() bool { return hubs[1].Online(edge) })
}

func moving(t *testing.T, hubs []Presence) {
	for _, h := range hubs {
		start(t, h.Run)
	}
	edge := id.NewEdge()
	hubs[0].Arrived(edge)
	within(t, patience, "online", func() bool { return hubs[2].Online(edge) })
	// A hub says all that it holds at once: who has heard of the mark has heard of the edge.
	stays := func(what string, mark id.Edge) {
		t.Helper()
		within(t, patience, what, func() bool {
			if !hubs[2].Online(edge) {
				t.Fatalf("offline: %s", what)
			}
			return hubs[2].Online(mark)
		})
	}
	there, gone := id.NewEdge(), id.NewEdge()
	hubs[1].Arrived(edge)
	hubs[1].Arrived(there)
	stays("while it is at two hubs", there)
	hubs[0].Departed(edge)
	hubs[0].Arrived(gone)
	stays("when it has moved", gone)
	if !hubs[2].Online(edge) {
		t.Error("offline after it has moved")
	}
}

// stopping lets a hub stop in order. That a hub which dies is forgotten is tried by whoever can kill one: see Forgotten.
func stopping(t *testing.T, hubs []Presence) {
	start(t, hubs[0].Run)
	stop := start(t, hubs[1].Run)
	edge := id.NewEdge()
	hubs[1].Arrived(edge)
	within(t, patience, "online", func() bool { return hubs[0].Online(edge) })
	stop()
	within(t, patience/4, "offline", func() bool { return !hubs[0].Online(edge) })
}

// Forgotten tries that what a hub held which has died is offline soon. observer sees the edge as online; die is called once.
func Forgotten(t *testing.T, observer Presence, edge id.Edge, die func()) {
	t.Helper()
	within(t, patience, "online", func() bool { return observer.Online(edge) })
	die()
	within(t, expiry, "the edge of a dead hub is offline", func() bool { return !observer.Online(edge) })
}
