package uplink_test

import (
	"context"
	"slices"
	"sync"
	"testing"

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
	doubts   []fleet.Doubt
	holder   runlog.Holder // of the one edge
}

func (s *hubsOfAStore) EdgeArrived(a fleet.Arrival) {
	s.mu.Lock()
	s.arrivals = append(s.arrivals, a)
	s.mu.Unlock()
	s.each(func(h *uplink.Handler) { h.ArrivedElsewhere(a) })
}

func (s *hubsOfAStore) EdgeDoubted(d fleet.Doubt) {
	s.mu.Lock()
	s.doubts = append(s.doubts, d)
	s.mu.Unlock()
	s.each(func(h *uplink.Handler) { h.Doubted(d) })
}

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
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.holder.Fence++
	f.of.holder.Boot = hello.BootNonce
	state.Fence = f.of.holder.Fence
	return state, err
}

func (f fencing) Holder(context.Context, id.Edge) (runlog.Holder, error) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	return f.of.holder, nil
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
		welcome := moved.hello()
		old.mustEnd()
		store.repeat() // what is heard late again ends nothing
		second.handler.Looked()
		t.Log(what)
		moved.isServed(welcome, func() wire.CommittedTo { return hear[wire.CommittedTo](moved, subject.Committed) })
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
	welcome := alive.hello()
	heard := alive.live()
	dead.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: dead.boot})
	dead.mustEnd()
	at1.handler.Looked()
	alive.isServed(welcome, func() wire.CommittedTo { return must[wire.CommittedTo](t, heard, subject.Committed) })
}

// Whoever reaches the network between hubs can make a hub look, and hang up. The edge that does nothing wrong is not turned away.
func TestWhatIsForgedInTheNameOfAnotherHubRefusesNoEdge(t *testing.T) {
	store, at1, _ := twoHubs(t)
	e := at1.dial(t, "b1")
	welcome := e.hello()
	heard := e.live()
	const fence = 1 // which is guessed
	for _, forged := range []func(){
		func() { at1.handler.RevokedElsewhere(at1.edge) },
		func() { at1.handler.Doubted(fleet.Doubt{Edge: at1.edge, Fence: fence}) },
		func() { at1.handler.Doubted(fleet.Doubt{Edge: at1.edge, Fence: fence, Rival: fence + 1}) },
		func() { at1.handler.Doubted(fleet.Doubt{Edge: at1.edge, Fence: fence, Rival: fence - 1}) },
		func() { at1.handler.Doubted(fleet.Doubt{Edge: at1.edge, Fence: fence, Rival: fence}) },
		func() { at1.handler.ArrivedElsewhere(fleet.Arrival{Edge: at1.edge, Boot: "b2", Fence: fence + 1}) },
	} {
		forged()
	}
	at1.handler.Looked()
	e.isServed(welcome, func() wire.CommittedTo { return must[wire.CommittedTo](t, heard, subject.Committed) })
	store.mu.Lock()
	defer store.mu.Unlock()
	if want := []fleet.Doubt{{Edge: at1.edge, Fence: fence + 1, Rival: fence}}; !slices.Equal(store.doubts, want) {
		t.Errorf("said to others: %+v, want %+v", store.doubts, want)
	}
	if len(at1.refused) > 0 {
		t.Errorf("it was stored as refused: %s", <-at1.refused)
	}
}

func TestAnEdgeThatWasRemovedAtAnotherHubIsToldHere(t *testing.T) {
	_, at1, _ := twoHubs(t)
	e := at1.dial(t, "b1")
	e.hello()
	at1.revoke()
	at1.handler.RevokedElsewhere(at1.edge)
	if got := hear[wire.Refused](e, subject.Refused); got.Code != fault.EdgeRevoked || got.Retry {
		t.Errorf("refused %+v", got)
	}
	e.mustEnd()
}
