package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	rows "github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	credit        = 1 << 20   // bytes of rows that an edge may have in flight
	inboxMessages = 256       // beyond it the bus subscription holds back
	maxInFlight   = 64        // commands sent and not yet answered with a receipt
	maxCommit     = 256 << 10 // bytes of frames that are joined into one commit; a single frame may be larger
)

var (
	errReplaced  = errors.New("replaced by a newer connection of the edge")
	errStuck     = errors.New("nobody answers behind the hello, and the edge is here on another connection")
	errFenced    = errors.New("another hub process has taken this lane")
	errBadFrames = fault.New(fault.FrameUnreadable, "The hub could not read what this edge sends. Update the edge, or the hub.")
)

// lane serves one connection of an edge. Its fields are owned by run, except those behind mu.
type lane struct {
	hub  *Handler
	edge id.Edge
	conn id.Connection

	inbox  chan message
	held   chan message // what was taken from inbox before its turn, one at most: the next to handle
	wakeup chan struct{}
	look   chan struct{} // has a value when the edge's standing is to be looked at before its time
	quit   chan error    // at most one reason to end, from another goroutine

	greeted    bool
	greeting   wire.Hello // the newest; its profiles are what the edge can run now
	state      runlog.LaneState
	receiver   rows.Receiver             // what becomes of its frames
	unanswered map[id.Delivery]time.Time // when each open command was last sent
	asked      map[id.Run]bool           // runs that the edge was asked to show
	inquiry    *inquiry                  // what waits for its answers; nil if nothing does

	fence atomic.Uint64 // of state, once the lane is open; 0 before

	mu      sync.Mutex
	heardAt time.Time                // monotonic
	pings   uint64                   // sent so far, and the nonce of the newest
	probes  map[uint64]chan struct{} // each is closed by the pong with its nonce
}

type message struct {
	verb subject.Verb
	data []byte
}

func newLane(h *Handler, e id.Edge) *lane {
	return &lane{
		hub: h, edge: e, conn: id.NewConnection(), heardAt: time.Now(), probes: map[uint64]chan struct{}{}, unanswered: map[id.Delivery]time.Time{}, asked: map[id.Run]bool{},
		inbox: make(chan message, inboxMessages), held: make(chan message, 1), wakeup: make(chan struct{}, 1), look: make(chan struct{}, 1), quit: make(chan error, 1),
	}
}

// receive returns the bus handler of the lane: it blocks when the lane is behind, so that the bus holds back.
func (l *lane) receive(ctx context.Context) func(subject.Subject, []byte) {
	return func(s subject.Subject, data []byte) {
		verb := subject.VerbOf(string(s))
		if l.heard(); verb == subject.Pong {
			l.answered(data)
			return
		}
		select {
		case l.inbox <- message{verb, data}:
		case <-ctx.Done():
		}
	}
}

// poke makes the lane look for commands soon.
func (l *lane) poke() {
	select {
	case l.wakeup <- struct{}{}:
	default: // it will look anyway
	}
}

// doubt makes the lane look soon whether the edge may still be here.
func (l *lane) doubt() {
	select {
	case l.look <- struct{}{}:
	default: // it will look anyway
	}
}

// end makes the lane close for the given reason, the first one given. Safe for concurrent use.
func (l *lane) end(reason error) {
	select {
	case l.quit <- reason:
	default: // it is ending already
	}
}

// run serves the lane until ctx ends or it must close; the error says why. A fault is told to the edge first.
func (l *lane) run(ctx context.Context) error {
	defer l.leave(context.WithoutCancel(ctx))
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	stand := time.NewTicker(standEvery)
	defer stand.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err = <-l.quit:
		case m := <-l.next():
			err = l.handle(ctx, m)
		case <-l.wakeup:
			err = l.sendCommands(ctx)
		case <-beat.C: // the floor under lost wake-ups
			err = l.sendCommands(ctx)
		case <-stand.C: // the floor under what other hubs say
			err = l.standing(ctx)
		case <-l.look:
			err = l.standing(ctx)
		case <-l.overdue():
			err = l.goOn(ctx)
		}
		if err != nil {
			l.refuse(ctx, err)
			return err
		}
	}
}

func (l *lane) leave(ctx context.Context) {
	l.forget()
	l.hub.lanes.remove(l)
	if !l.greeted {
		return
	}
	l.hub.Presence.Departed(l.edge)
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	if err := l.hub.Edges.Seen(ctx, l.edge); err != nil {
		l.hub.Log.Warn("edge's last sight was not recorded", "edge", l.edge, "error", err)
	}
}

// next is where the next message comes from. Every message passes the loop of run, so that an edge that talks without end cannot keep
// the lane from hearing that it must close.
func (l *lane) next() <-chan message {
	if len(l.held) > 0 {
		return l.held
	}
	return l.inbox
}

func (l *lane) handle(ctx context.Context, m message) error {
	switch m.verb {
	case subject.Hello:
		return l.hello(ctx, m.data)
	case subject.Frame:
		return l.frame(ctx, m.data)
	case subject.Receipt:
		return l.receipt(ctx, m.data)
	case subject.Capabilities:
		return l.capabilities(ctx, m.data)
	case subject.Shown:
		return l.shown(ctx, m.data)
	}
	return nil // alive, or a verb of a newer edge
}

// hello opens the lane, or opens it again after the edge began a new incarnation on the same connection.
func (l *lane) hello(ctx context.Context, data []byte) error {
	hello, err := wire.Decode[wire.Hello](data)
	if err != nil {
		return fault.Wrap(err, fault.FrameUnreadable, "The hub could not read this edge's hello.")
	}
	if hello.Protocol != wire.Protocol {
		return fault.New(fault.Unsupported, "This edge speaks uplink protocol %d, the hub %d. Update the older one.", hello.Protocol, wire.Protocol)
	}
	if err := l.hub.lanes.take(ctx, l, hello.BootNonce); err != nil {
		return err
	}
	if err := l.hub.Edges.Announce(ctx, l.edge, hello); err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	l.greeting = hello
	l.forget()
	if !l.greeted { // after the announcement: nobody may take an edge that is here for what it could run the last time
		l.greeted = true
		l.hub.Presence.Arrived(l.edge)
	}
	state, err := l.hub.Lanes.Open(ctx, l.edge, hello)
	if err != nil {
		return fmt.Errorf("open lane: %w", err)
	}
	l.state = state
	l.fence.Store(uint64(state.Fence))
	l.hub.Others.EdgeArrived(fleet.Arrival{Edge: l.edge, Boot: hello.BootNonce, Fence: uint64(state.Fence)})
	l.send(subject.Welcome, wire.Welcome{
		Incarnation: hello.Incarnation, Watermark: state.Watermark, Chain: state.Chain, Credit: credit,
		Generation: l.receiver.Welcome(state.Watermark), Epoch: state.Epoch, MaxFrame: wire.DefaultFrame,
	})
	if err := l.hub.Runs.DispatchWaiting(ctx, l.edge); err != nil {
		return fmt.Errorf("dispatch waiting runs: %w", err)
	}
	clear(l.unanswered) // a fresh connection gets every open command again
	return l.sendCommands(ctx)
}

// send may lose the message when the bus is away: the lane then ends with its tunnel, and the edge comes back.
func (l *lane) send(v subject.Verb, body any) {
	data, err := json.Marshal(body)
	if err == nil {
		err = l.hub.Bus.Publish(subject.Down(l.edge, l.conn, v), data)
	}
	if err != nil {
		l.hub.Log.Warn("uplink send failed", "edge", l.edge, "verb", string(v), "error", err)
	}
}
