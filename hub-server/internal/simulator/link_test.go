package simulator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// credit of a connection, in bytes: a few rows, so that it is used up now and then.
const credit = 1500

// link is one connection of an edge to a hub: the shell around a lane.Receiver, as hub-server/internal/uplink has one.
type link struct {
	world *world
	hub   *hub
	edge  *edge
	open  bool // until one end gives up
	mute  bool // half-open: nothing comes through, and nobody is told

	greeted    bool
	state      runlog.LaneState
	receiver   lane.Receiver
	inbox      []any
	busy       bool
	heardAt    time.Time
	unanswered map[id.Delivery]time.Time
}

// poke makes the hub look for commands.
type poke struct{}

// hear takes what has arrived at the hub.
func (l *link) hear(m any) {
	if !l.open || !l.hub.up {
		return
	}
	if _, poked := m.(poke); !poked {
		l.heardAt = l.world.now
	}
	l.inbox = append(l.inbox, m)
	l.pump()
}

// pump handles one message after the other.
func (l *link) pump() {
	if l.busy || len(l.inbox) == 0 || !l.open {
		return
	}
	m := l.inbox[0]
	l.inbox = l.inbox[1:]
	l.busy = true
	var err error
	l.hub.do(func(ctx context.Context) { err = l.handle(ctx, m) }, func() {
		l.busy = false
		if err != nil {
			l.refuse(err)
			return
		}
		l.pump()
	})
}

func (l *link) handle(ctx context.Context, m any) error {
	switch m := m.(type) {
	case wire.Hello:
		return l.hello(ctx, m)
	case wire.Frame:
		return l.frame(ctx, m)
	case wire.CommandReceipt:
		if !l.greeted {
			return nil
		}
		delete(l.unanswered, m.DeliveryID)
		return l.hub.services.Lanes.Receipt(ctx, l.edge.id, m)
	case poke:
		return l.sendCommands(ctx)
	}
	return nil
}

func (l *link) hello(ctx context.Context, m wire.Hello) error {
	for _, older := range l.hub.links {
		if older != l && older.edge == l.edge {
			older.close("replaced")
		}
	}
	l.greeted = true
	state, err := l.hub.services.Lanes.Open(ctx, l.edge.id, m)
	if err != nil {
		return err
	}
	l.state = state
	l.down(wire.Welcome{
		Incarnation: m.Incarnation, Watermark: state.Watermark, Chain: state.Chain, Credit: credit, Generation: l.receiver.Welcome(state.Watermark), Epoch: state.Epoch,
		MaxFrame: credit / 2,
	})
	if err := l.hub.services.Runs.DispatchWaiting(ctx, l.edge.id); err != nil {
		return err
	}
	clear(l.unanswered)
	return l.sendCommands(ctx)
}

func (l *link) frame(ctx context.Context, f wire.Frame) error {
	switch l.receiver.Frame(f) {
	case lane.Commit:
		return l.commit(ctx, l.gather(f))
	case lane.Give:
		return fault.New(fault.FrameUnreadable, "too many frames before a hello")
	case lane.Ask:
		l.rewind()
	}
	return nil
}

// gather joins to a frame those that wait behind it.
func (l *link) gather(f wire.Frame) wire.Frame {
	for len(l.inbox) > 0 {
		next, ok := l.inbox[0].(wire.Frame)
		if !ok || !lane.Continues(f, next) {
			break
		}
		f.Rows = append(slices.Clone(f.Rows), next.Rows...)
		l.inbox = l.inbox[1:]
	}
	return f
}

func (l *link) rewind() {
	if again, ok := l.receiver.Rewind(); ok {
		l.world.say(l.hub.name, "rewinds %s to %d", name(l.world, l.edge.id), again.From)
		l.down(again)
	}
}

func (l *link) commit(ctx context.Context, f wire.Frame) error {
	state := l.world.broken.prepared(l.state, f.First)
	res, err := l.hub.services.Lanes.Commit(ctx, runlog.PrepareFrame(l.edge.id, state, f))
	switch {
	case err != nil:
		return err
	case res.Fenced:
		l.world.say(l.hub.name, "has lost %s", name(l.world, l.edge.id))
		return errors.New("fenced")
	case res.Rewind:
		l.rewind()
		return nil
	}
	l.receiver.Committed(res.Watermark)
	l.state.Watermark, l.state.Chain = res.Watermark, res.Chain
	l.down(wire.CommittedTo{Receipt: res.Receipt, Credit: credit})
	return nil
}

func (l *link) sendCommands(ctx context.Context) error {
	if !l.greeted {
		return nil
	}
	commands, err := l.hub.services.Lanes.PendingCommands(ctx, l.edge.id)
	if err != nil {
		return err
	}
	for _, c := range commands {
		if sent, ok := l.unanswered[c.DeliveryID]; ok && l.world.now.Sub(sent) < lane.Silence {
			continue
		}
		l.unanswered[c.DeliveryID] = l.world.now
		l.down(c)
	}
	return nil
}

// works says whether both ends can use it.
func (l *link) works() bool { return l.greeted && l.open && !l.mute }

func (l *link) beat() {
	if !l.open {
		return
	}
	if l.world.now.Sub(l.heardAt) > lane.Silence {
		l.close("silent")
		return
	}
	l.down(wire.Ping{})
	l.hear(poke{})
}

// refuse tells the edge why, if that is something that it can act on.
func (l *link) refuse(err error) {
	var f *fault.Fault
	if errors.As(err, &f) {
		l.down(wire.Refused{Code: f.Code, Detail: f.Detail, Retry: true})
	}
	l.close(err.Error())
}

// close ends the connection at the hub's end.
func (l *link) close(why string) {
	if !l.open {
		return
	}
	l.world.say(l.hub.name, "closes the link of %s: %s", name(l.world, l.edge.id), why)
	l.breaks()
}

// breaks ends the connection for both, at the edge a moment later.
func (l *link) breaks() {
	l.open = false
	l.hub.links = slices.DeleteFunc(slices.Clone(l.hub.links), func(other *link) bool { return other == l })
	if !l.mute {
		l.world.after(l.world.upTo(50*time.Millisecond), func() { l.edge.lost(l) })
	}
}

// down sends to the edge, sendUp to the hub. What is on its way is lost with the connection.
func (l *link) down(m any) {
	l.world.carry(func() {
		if l.open && !l.mute {
			l.edge.hear(l, m)
		}
	})
}

func (l *link) sendUp(m any) {
	l.world.carry(func() { l.arrive(m) })
}

// arrive waits for a hub that stands still.
func (l *link) arrive(m any) {
	if wait := l.hub.pausedUntil.Sub(l.world.now); wait > 0 {
		l.world.after(wait, func() { l.arrive(m) })
		return
	}
	if l.open && !l.mute {
		l.hear(m)
	}
}

// carry takes a message over the network: it arrives late, twice, behind a later one, or never.
func (w *world) carry(deliver func()) {
	if !w.rough {
		w.after(2*time.Millisecond, deliver)
		return
	}
	w.done.messages++
	if w.chance(4) {
		w.done.lost++
		return
	}
	delay := w.upTo(10 * time.Millisecond)
	if w.chance(3) {
		delay = w.upTo(2 * time.Second)
	}
	w.after(delay, deliver)
	if w.chance(4) {
		w.done.doubled++
		w.after(delay+w.upTo(time.Second), deliver)
	}
}
