package redisstate

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/hub-server/internal/statetest"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testredis"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	quiet  = slog.New(slog.DiscardHandler)
	secret = []byte("the same on all hubs of a store, and on no other")
)

// deaf is a twin that knows nothing and tells nobody: whatever is known all the same has come through Redis.
type deaf struct{}

func (deaf) Arrived(id.Edge)               { /* knows nothing */ }
func (deaf) Departed(id.Edge)              { /* knows nothing */ }
func (deaf) Online(id.Edge) bool           { return false }
func (deaf) LoginEnded(account.Family)     { /* tells nobody */ }
func (deaf) EdgeRevoked(id.Edge)           { /* tells nobody */ }
func (deaf) EdgeArrived(fleet.Arrival)     { /* tells nobody */ }
func (deaf) EdgeDoubted(fleet.Doubt)       { /* tells nobody */ }
func (deaf) CommandsWait(id.Edge)          { /* tells nobody */ }
func (deaf) ContactChanged(presence.Pair)  { /* tells nobody */ }
func (deaf) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// link returns a link that runs until the test ends.
func link(t *testing.T, server *testredis.Server) *Link {
	t.Helper()
	l := stopped(t, server)
	run(t, l.Run)
	within(t, "redis answers", l.isUp)
	return l
}

// stopped returns a link that does not run.
func stopped(t *testing.T, server *testredis.Server) *Link {
	t.Helper()
	l, err := NewLink(server.URL(), secret, quiet, telemetry.NewRegistry("test"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// run lets a part run until the test ends, or the returned function is called.
func run(t *testing.T, part func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := part(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	const look, patience = 5 * time.Millisecond, 20 * time.Second
	for begin := time.Now(); !ok(); <-time.After(look) {
		if time.Since(begin) > patience {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestLimitsInRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	statetest.Limits(t, statetest.OnTheWallClock, func(t *testing.T) statetest.Limiter {
		server.Flush()
		return NewLimiter(link(t, server), memstate.NewLimiter())
	})
}

func TestPresenceInRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	statetest.Presences(t, id.NewEdge, func(t *testing.T, n int) (hubs []statetest.Presence[id.Edge]) {
		server.Flush()
		for i := range n {
			hubs = append(hubs, NewPresence(fmt.Sprint("hub ", i), link(t, server), deaf{}))
		}
		return hubs
	})
}

func TestAHubThatDiesIsForgottenInRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	observer, dead := NewPresence("observer", link(t, server), deaf{}), NewPresence("dead", link(t, server), deaf{})
	run(t, observer.Run)
	edge := id.NewEdge()
	dead.Arrived(edge)
	within(t, "lease taken", func() bool { return dead.renew(t.Context()) == nil })
	statetest.Forgotten(t, observer, edge, func() {}) // it renews its lease no more
}

// unseen is a twin that knows nobody.
type unseen struct{ deaf }

func (unseen) Arrived(id.User)               { /* knows nobody */ }
func (unseen) Departed(id.User)              { /* knows nobody */ }
func (unseen) Present() map[id.User]struct{} { return map[id.User]struct{}{} }
func (unseen) Changed() <-chan struct{}      { return nil }

func TestPeopleInRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	statetest.Crowds(t, func(t *testing.T, n int) (hubs []statetest.Crowd) {
		server.Flush()
		for i := range n {
			hubs = append(hubs, NewPeople(fmt.Sprint("hub ", i), link(t, server), unseen{}))
		}
		return hubs
	})
}

func TestPeopleOfAHubThatDiesAreForgottenInRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	observer, dead := NewPeople("observer", link(t, server), unseen{}), NewPeople("dead", link(t, server), unseen{})
	run(t, observer.Run)
	ada := id.NewUser()
	dead.Arrived(ada)
	within(t, "lease taken", func() bool { return dead.renew(t.Context()) == nil })
	statetest.Forgotten(t, statetest.OnlineIn(observer), ada, func() {}) // it renews its lease no more
}

func TestSignalsThroughRedis(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	edges := [2]id.Edge{id.NewEdge(), id.NewEdge()}
	observer := link(t, server)
	statetest.Tellers(t, edges, func(t *testing.T, n int) (signals []statetest.Signals, ears []*statetest.Ears) {
		for i := range n {
			l, e := link(t, server), &statetest.Ears{}
			p := NewPresence(fmt.Sprint("hub ", i), l, deaf{})
			if i == 1 {
				p.Arrived(edges[0])
				p.Arrived(edges[1])
			}
			run(t, p.Run)
			ears = append(ears, e)
			signals = append(signals, NewSignals(fmt.Sprint("hub ", i), l, deaf{}, p, Heard{e.EdgeArrived, e.EdgeDoubted, e.LoginEnded, e.EdgeRevoked, e.CommandsWait, e.ContactChanged}))
		}
		return signals, ears
	})
	// That commands wait concerns the hub that holds the edge: nobody else is told.
	for hub, told := range map[string]bool{"hub 0": false, "hub 1": true, "hub 2": false} {
		n, err := observer.client.XLen(t.Context(), observer.keys.signalsTo(hub)).Result()
		if err != nil || (n > 0) != told {
			t.Errorf("%s was told %d times that commands wait, %v", hub, n, err)
		}
	}
}
