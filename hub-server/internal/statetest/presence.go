package statetest

import (
	"context"
	"testing"
	"time"
)

// Presence knows which edges, or people, are connected to any hub.
type Presence[K comparable] interface {
	Arrived(k K)
	Departed(k K)
	Online(k K) bool
	Run(ctx context.Context) error
}

// expiry is how long a hub that fell silent is believed at most, and a little more.
const expiry = 14 * time.Second

// Presences tries that hubs see what others hold. fresh returns the name of something new; hubs returns the views of a number of hub processes that can
// hear one another; none runs yet.
func Presences[K comparable](t *testing.T, fresh func() K, hubs func(t *testing.T, n int) []Presence[K]) {
	t.Helper()
	t.Run("what arrives at one is online at all until it departs", func(t *testing.T) { arrivals(t, fresh, hubs(t, 2)) })
	t.Run("a hub that comes later learns what is there", func(t *testing.T) { latecomer(t, fresh, hubs(t, 2)) })
	t.Run("what moves is online all the while", func(t *testing.T) { moving(t, fresh, hubs(t, 3)) })
	t.Run("what a stopping hub held is gone at once", func(t *testing.T) { stopping(t, fresh, hubs(t, 2)) })
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

func arrivals[K comparable](t *testing.T, fresh func() K, hubs []Presence[K]) {
	for _, h := range hubs {
		start(t, h.Run)
	}
	here, there := hubs[0], hubs[1]
	edge, other := fresh(), fresh()
	here.Arrived(edge)
	if !here.Online(edge) {
		t.Error("not online at once where it is")
	}
	within(t, patience, "online elsewhere", func() bool { return there.Online(edge) })
	if here.Online(other) || there.Online(other) {
		t.Error("what nobody holds is online")
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

func latecomer[K comparable](t *testing.T, fresh func() K, hubs []Presence[K]) {
	start(t, hubs[0].Run)
	edge := fresh()
	hubs[0].Arrived(edge)
	start(t, hubs[1].Run)
	within(t, patience, "online for the latecomer", func() bool { return hubs[1].Online(edge) })
}

func moving[K comparable](t *testing.T, fresh func() K, hubs []Presence[K]) {
	for _, h := range hubs {
		start(t, h.Run)
	}
	edge := fresh()
	hubs[0].Arrived(edge)
	within(t, patience, "online", func() bool { return hubs[2].Online(edge) })
	// A hub says all that it holds at once: who has heard of the mark has heard of the edge.
	stays := func(what string, mark K) {
		t.Helper()
		within(t, patience, what, func() bool {
			if !hubs[2].Online(edge) {
				t.Fatalf("offline: %s", what)
			}
			return hubs[2].Online(mark)
		})
	}
	there, gone := fresh(), fresh()
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
func stopping[K comparable](t *testing.T, fresh func() K, hubs []Presence[K]) {
	start(t, hubs[0].Run)
	stop := start(t, hubs[1].Run)
	edge := fresh()
	hubs[1].Arrived(edge)
	within(t, patience, "online", func() bool { return hubs[0].Online(edge) })
	stop()
	within(t, patience/4, "offline", func() bool { return !hubs[0].Online(edge) })
}

// Forgotten tries that what a hub held which has died is offline soon. observer sees it as online; die is called once.
func Forgotten[K comparable](t *testing.T, observer Presence[K], held K, die func()) {
	t.Helper()
	within(t, patience, "online", func() bool { return observer.Online(held) })
	die()
	within(t, expiry, "what a dead hub held is offline", func() bool { return !observer.Online(held) })
}
