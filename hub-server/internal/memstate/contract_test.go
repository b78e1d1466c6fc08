package memstate

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/switchyard-dev/switchyard/hub-server/internal/natsbus"
	"github.com/switchyard-dev/switchyard/hub-server/internal/statetest"
	"github.com/switchyard-dev/switchyard/shared/id"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// buses returns connections of several hub processes to one bus.
func buses(t *testing.T, n int) (all []Bus) {
	t.Helper()
	server, err := natsbus.NewServer(quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for range n {
		bus, err := server.Connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(bus.Close)
		all = append(all, bus)
	}
	return all
}

func TestLimitsInMemory(t *testing.T) {
	t.Parallel()
	statetest.Limits(t, synctest.Test, func(*testing.T) statetest.Limiter { return NewLimiter() })
}

func TestPresenceOverTheBus(t *testing.T) {
	t.Parallel()
	statetest.Presences(t, id.NewEdge, func(t *testing.T, n int) (hubs []statetest.Presence[id.Edge]) {
		for i, bus := range buses(t, n) {
			hubs = append(hubs, NewPresence(fmt.Sprint("hub ", i), bus))
		}
		return hubs
	})
}

func TestAHubThatDiesIsForgottenOnTheBus(t *testing.T) {
	t.Parallel()
	pair := buses(t, 2)
	observer, dying := NewPresence("observer", pair[0]), NewPresence("dying", pair[1])
	edge := id.NewEdge()
	dying.Arrived(edge)
	stop := runAll(t, observer.Run, dying.Run)
	defer stop()
	statetest.Forgotten(t, observer, edge, pair[1].(*natsbus.Bus).Close)
}

func TestPeopleOverTheBus(t *testing.T) {
	t.Parallel()
	statetest.Crowds(t, func(t *testing.T, n int) (hubs []statetest.Crowd) {
		for i, bus := range buses(t, n) {
			hubs = append(hubs, NewPeople(fmt.Sprint("hub ", i), bus))
		}
		return hubs
	})
}

func TestPeopleOfAHubThatDiesAreForgottenOnTheBus(t *testing.T) {
	t.Parallel()
	pair := buses(t, 2)
	observer, dying := NewPeople("observer", pair[0]), NewPeople("dying", pair[1])
	ada := id.NewUser()
	dying.Arrived(ada)
	stop := runAll(t, observer.Run, dying.Run)
	defer stop()
	statetest.Forgotten(t, statetest.OnlineIn(observer), ada, pair[1].(*natsbus.Bus).Close)
}

func TestSignalsOverTheBus(t *testing.T) {
	t.Parallel()
	statetest.Tellers(t, [2]id.Edge{id.NewEdge(), id.NewEdge()}, func(t *testing.T, n int) (signals []statetest.Signals, ears []*statetest.Ears) {
		for i, bus := range buses(t, n) {
			e := &statetest.Ears{}
			ears = append(ears, e)
			signals = append(signals, NewSignals(fmt.Sprint("hub ", i), bus, Heard{e.EdgeArrived, e.EdgeDoubted, e.LoginEnded, e.EdgeRevoked, e.CommandsWait, e.ContactChanged}, quiet))
		}
		return signals, ears
	})
}

// runAll runs parts until the returned function is called.
func runAll(t *testing.T, parts ...func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, len(parts))
	for _, part := range parts {
		go func() { done <- part(ctx) }()
	}
	return func() {
		cancel()
		for range parts {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}
