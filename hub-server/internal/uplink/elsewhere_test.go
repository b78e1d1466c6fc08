package uplink_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// nobodyElse is a hub that is alone.
type nobodyElse struct{}

func (nobodyElse) EdgeArrived(fleet.Arrival) { /* nobody hears it */ }
func (nobodyElse) EdgeDoubted(fleet.Doubt)   { /* nobody hears it */ }

// hubsOfAStore are several handlers over one store, each of which hears what any of them says, itself included. Safe for concurrent use.
type hubsOfAStore struct {
	mu       sync.Mutex
	handlers []*uplink.Handler
	arrivals []fleet.Arrival
	fence    atomic.Uint64
}

func (s *hubsOfAStore) EdgeArrived(a fleet.Arrival) {
	s.mu.Lock()
	s.arrivals = append(s.arrivals, a)
	s.mu.Unlock()
	s.each(func(h *uplink.Handler) { h.ArrivedElsewhere(a) })
}

func (s *hubsOfAStore) EdgeDoubted(d fleet.Doubt) { s.each(func(h *uplink.Handler) { h.Doubted(d) }) }

func (s *hubsOfAStore) each(tell func(*uplink.Handler)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.handlers {
		tell(h)
	}
}

// repeat says again what has been said, as a hub may that reads everything anew.
func (s *hubsOfAStore) repeat() {
	s.mu.Lock()
	said := append([]fleet.Arrival(nil), s.arrivals...)
	s.mu.Unlock()
	for _, a := range said {
		s.each(func(h *uplink.Handler) { h.ArrivedElsewhere(a) })
	}
}

// fencing gives each connection a fence of its own, whichever hub it is at.
type fencing struct {
	uplink.Lanes
	of *hubsOfAStore
}

func (f fencing) Open(ctx context.Context, e id.Edge, hello wire.Hello) (runlog.LaneState, error) {
	state, err := f.Lanes.Open(ctx, e, hello)
	state.Fence = runlog.Fence(f.of.fence.Add(1))
	return state, err
}

// twoHubs returns two hubs that the same edge may come to.
func twoHubs(t *testing.T) (store *hubsOfAStore, first, second *harness) {
	t.Helper()
	store = &hubsOfAStore{}
	first = newHarness(t, func(d *uplink.Deps) { d.Others, d.Lanes = store, fencing{d.Lanes, store} })
	second = newHarness(t, func(d *uplink.Deps) {
		d.Others, d.Lanes, d.Edges = store, fencing{first.domain, store}, first.domain
	})
	second.edge = first.edge
	store.mu.Lock()
	store.handlers = []*uplink.Handler{first.handler, second.handler}
	store.mu.Unlock()
	return store, first, second
}

func TestAnEdgeThatMovesToAnotherHubIsGoneFromTheFirst(t *testing.T) {
	for what, boot := range map[string]wire.BootNonce{"the same process": "b1", "a restarted one, the old connection dead": "b2"} {
		store, first, second := twoHubs(t)
		old := first.dial(t, "b1")
		old.hello() // and from here on it answers no ping
		moved := second.dial(t, boot)
		moved.hello()
		old.mustEnd()
		store.repeat() // what is heard late again ends nothing
		select {
		case <-moved.gone:
			t.Errorf("%s: its new connection has ended", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestTwoLiveMachinesWithOneIdentityAreBothRefusedThoughTheyAreAtTwoHubs(t *testing.T) {
	_, at1, at2 := twoHubs(t)
	first, second := at1.dial(t, "b1"), at2.dial(t, "b2")
	first.hello()
	heard := map[*edge]<-chan *nats.Msg{first: first.live(), second: second.live()}
	second.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: second.boot})
	must[wire.Welcome](t, heard[second], subject.Welcome)
	for e, messages := range heard {
		if got := must[wire.Refused](t, messages, subject.Refused); got.Code != fault.EdgeRefused || got.Retry {
			t.Errorf("refused %+v", got)
		}
		e.mustEnd()
	}
}

// A hello that was stuck until its process had died takes the lane, and is given up; the edge that lives is not refused.
func TestAHelloThatWasStuckAtAnotherHubDoesNotRefuseTheEdge(t *testing.T) {
	_, at1, at2 := twoHubs(t)
	alive, dead := at1.dial(t, "b2"), at2.dial(t, "b1")
	alive.hello()
	heard := alive.live()
	dead.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: dead.boot})
	dead.mustEnd()
	select {
	case m := <-heard:
		t.Errorf("the edge that lives heard %s %s", m.Subject, m.Data)
	case <-alive.gone:
		t.Error("the edge that lives is gone")
	case <-time.After(100 * time.Millisecond):
	}
}
