package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// oweFor is after how long a client is told again which friends are there when that, or a word of one of them, did not get through.
const oweFor = time.Second

// Presence knows who is there. Safe for concurrent use; Arrived and Departed do not block.
type Presence interface {
	// Arrived counts a connection that has begun here, Departed one that has ended.
	Arrived(u id.User)
	Departed(u id.User)
	// Friends returns which friends of somebody are there.
	Friends(ctx context.Context, u id.User) (presence.Statement, error)
}

// present counts a connection that may stay; the returned function is called at its end.
func (g *Gate) present(c *conn, stays bool) (gone func()) {
	if g.Presence == nil || !stays {
		return func() { /* was never there */ }
	}
	g.Presence.Arrived(c.who.User)
	return func() { g.Presence.Departed(c.who.User) }
}

// Tell tells people who are connected here how a friend of theirs stands. It does not block. Whose connection has no room is told of all friends soon.
func (g *Gate) Tell(to []id.User, s presence.Standing) {
	body, err := bodyOf(s)
	if err != nil {
		g.Log.Error("presence not encoded", "error", err)
		return
	}
	for _, u := range g.Tail.EphemeralTo(to, body) {
		for _, c := range g.conns.of(u) {
			c.oweAfter(oweFor)
		}
	}
}

func bodyOf(s presence.Standing) (delivery.Body, error) {
	typ := DeviceOffline
	if s.Online {
		typ = DeviceOnline
	}
	payload, err := event.Encode(s)
	return delivery.Body{Type: event.FrameType(typ), Payload: payload}, err
}

// oweAfter has the client told which friends are there when a time has passed.
func (c *conn) oweAfter(d time.Duration) {
	time.AfterFunc(d, func() {
		c.owes.Store(true)
		c.wake()
	})
}

// tellFriends tells which friends are there. As long as the hub does not know who is not, it tells of those who are one by one: what the client knows of
// the others stands until then.
func (c *conn) tellFriends() error {
	c.owes.Store(false)
	s, err := c.friends()
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case err != nil:
		c.log().Warn("client not told which friends are there, will retry", "error", err)
		c.oweAfter(spread(2*oweFor, oweFor))
		return nil
	case s.WholeIn > 0:
		err = c.sendOnline(s.Online)
		c.oweAfter(s.WholeIn + rand.N(max(oweFor, s.WholeIn/3))) // not all at once: many have come back with this one
	default:
		err = c.sendAuthOK(delivery.Plan{Outcome: delivery.Replayed}, c.stream.Cursor(), s.Online)
	}
	if err != nil {
		return err
	}
	c.times.sent(time.Now())
	return c.flush()
}

func (c *conn) friends() (presence.Statement, error) {
	if err := c.gate.turns.take(c.ctx); err != nil {
		return presence.Statement{}, err
	}
	defer c.gate.turns.back()
	return c.gate.Presence.Friends(c.ctx, c.who.User)
}

func (c *conn) sendOnline(friends []presence.Standing) error {
	frames := make([]delivery.Frame, len(friends))
	for i, s := range friends {
		body, err := bodyOf(s)
		if err != nil {
			return fmt.Errorf("encode presence: %w", err)
		}
		frames[i] = delivery.NewFrame(body, "")
	}
	c.send(time.Now(), frames)
	c.gate.metrics.frames.Add(float64(len(frames)))
	return nil
}
