package redisstate

import (
	"context"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/statetest"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testredis"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// hearer listens under another name until the test ends.
func hearer(t *testing.T, server *testredis.Server) *statetest.Ears {
	t.Helper()
	e := &statetest.Ears{}
	run(t, NewSignals("hears", link(t, server), deaf{}, nobody{}, Heard{e.EdgeArrived, e.EdgeDoubted, e.LoginEnded, e.EdgeRevoked, e.CommandsWait, e.ContactChanged}).Run)
	return e
}

// Thousands of edges come back at once. What has ended is told all the same, to who listens later too.
func TestACrowdOfEdgesPushesNoEndOut(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	says := NewSignals("says", link(t, server), deaf{}, nobody{}, Heard{})
	crowd := func(n int) {
		for range n {
			says.EdgeArrived(fleet.Arrival{Edge: id.NewEdge(), Boot: "b", Fence: 1})
		}
	}
	crowd(2 * maxWaiting) // more than the queue holds, before anything is written
	says.LoginEnded("family")
	edge := id.NewEdge()
	says.EdgeRevoked(edge)
	run(t, says.Run)
	for range 6 { // more than the stream keeps
		crowd(maxWaiting)
		within(t, "all written", func() bool { return len(says.waiting) == 0 })
	}
	if n, err := says.link.client.XLen(t.Context(), says.link.keys.signals()).Result(); err != nil || n < maxKept {
		t.Fatalf("the stream of the crowd has %d, %v: not full", n, err)
	}
	ears := hearer(t, server)
	within(t, "the end of the login is heard", func() bool { return ears.Has("login family") })
	within(t, "the removal of the edge is heard", func() bool { return ears.Has("revoked " + string(edge)) })
}

func TestWhatWaitsWhenAHubStopsIsWritten(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	says := NewSignals("says", link(t, server), deaf{}, nobody{}, Heard{})
	const last = 200
	for i := range last {
		says.LoginEnded(account.Family(fmt.Sprint(i + 1)))
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := says.Run(stopped); err != nil {
		t.Fatal(err)
	}
	ears := hearer(t, server)
	within(t, "the last one is heard", func() bool { return ears.Has(fmt.Sprint("login ", last)) })
}
