package simulator

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// socket is one connection of a device to a hub: the shell around a delivery.Stream, as the gate has one. Frames arrive in order; some are lost,
// and the connection can break at any time.
type socket struct {
	world  *world
	hub    *hub
	device *device
	open   bool
	stream *delivery.Stream
	busy   bool
	seq    uint64 // of the last frame that was written
	last   time.Time
}

// dial begins a connection: the plan, the snapshot if there has to be one, then the stream.
func (d *device) dial() {
	w := d.world
	w.after(w.between(100*time.Millisecond, time.Second), func() {
		h := pick(w, w.hubs)
		if d.socket != nil {
			return
		}
		if !h.up || h.paused() || !h.tailBorn || h.tasks >= 12 {
			d.dial()
			return
		}
		s := &socket{world: w, hub: h, device: d, open: true, busy: true}
		h.sockets = append(h.sockets, s)
		d.socket = s
		var plan delivery.Plan
		var err error
		h.do(func(ctx context.Context) { plan, err = s.greet(ctx) }, func() {
			s.busy = false
			if err != nil {
				s.breaks()
				return
			}
			d.welcome(s, plan)
		})
	})
}

func (s *socket) greet(ctx context.Context) (delivery.Plan, error) {
	d := s.device
	cursor := d.cursor
	if d.byMark {
		cursor = ""
	}
	plan, err := s.hub.planner.Plan(ctx, s.world.owner, d.id, cursor)
	if err != nil {
		return plan, err
	}
	plan = s.world.broken.plan(plan, delivery.Position(len(s.world.store.outbox)))
	s.stream, err = s.hub.tail.Open(ctx, s.world.owner, plan.From)
	return plan, err
}

// serveSockets lets every stream that has something to give have a task; it says whether any has.
func (h *hub) serveSockets() (some bool) {
	if !h.up || h.paused() {
		return false
	}
	for _, s := range h.sockets {
		if s.busy || !s.open || s.stream == nil {
			continue
		}
		select {
		case <-s.stream.Ready():
			some = true
			s.forward()
		default:
		}
	}
	return some
}

// forward writes what the stream has next.
func (s *socket) forward() {
	s.busy = true
	var frames []delivery.Frame
	var err error
	s.hub.do(func(ctx context.Context) { frames, err = s.stream.Next(ctx) }, func() {
		s.busy = false
		if err != nil {
			s.breaks()
			return
		}
		for _, f := range frames {
			s.seq++
			s.write(f.Append(nil, s.seq))
		}
	})
}

// beat says how far the client has come when nothing else is on the way: it notices the loss of the last frame by it.
func (s *socket) beat() {
	if !s.open || s.busy || s.stream == nil || len(s.stream.Ready()) > 0 {
		return
	}
	s.seq++
	at := s.stream.Position()
	s.write(delivery.NewFrame(delivery.Body{Type: "auth.ok", Payload: []byte(`{}`)}, s.stream.Cursor()).Append(nil, s.seq))
	s.send(func() { s.world.after(2*time.Millisecond, func() { s.pong(at) }) })
}

// pong is the WebSocket of the client saying that it has everything up to a position.
func (s *socket) pong(at delivery.Position) {
	if s.open && s.hub.up {
		s.hub.marks.Move(s.world.owner, s.device.id, at)
	}
}

// write sends a frame, which is lost now and then. A client that is known by its device alone has nothing but its WebSocket to rely on, which
// loses nothing.
func (s *socket) write(frame []byte) {
	if s.world.rough && !s.device.byMark && s.world.chance(1) {
		s.world.say(s.hub.name, "loses a frame to %s", s.device.name)
		return
	}
	s.send(func() { s.device.hear(s, frame) })
}

// send delivers in order.
func (s *socket) send(deliver func()) {
	w := s.world
	at := w.now.Add(2 * time.Millisecond)
	if w.rough {
		at = w.now.Add(w.upTo(40 * time.Millisecond))
	}
	if at.Before(s.last) {
		at = s.last
	}
	s.last = at
	w.after(at.Sub(w.now), func() {
		if s.open {
			deliver()
		}
	})
}

// breaks ends the connection.
func (s *socket) breaks() {
	if !s.open {
		return
	}
	s.open = false
	if s.stream != nil && !s.busy && s.hub.up {
		s.stream.Close()
	}
	s.hub.sockets = slices.DeleteFunc(slices.Clone(s.hub.sockets), func(other *socket) bool { return other == s })
	if s.device.socket == s {
		s.device.socket = nil
		s.device.dial()
	}
}

// frame is what a client reads.
type frame struct {
	Type    event.FrameType `json:"type"`
	Seq     uint64          `json:"seq_id"`
	Payload json.RawMessage `json:"payload"`
	Cursor  string          `json:"cursor"`
}
