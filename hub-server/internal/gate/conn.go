package gate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// conn is one device's connection. One goroutine of its own reads what the client sends and, nearly always, sleeps. What the client gets
// is written by a shard, as long as nothing of it has to wait; what must wait, such as reading the store or a socket that takes nothing now, has a
// goroutine for as long as that lasts. Either the shard or that goroutine serves the connection, never both.
type conn struct {
	gate   *Gate
	id     id.Connection
	came   time.Time
	who    account.Principal
	cursor string // what the client showed; empty once it is greeted

	socket *websocket.Conn
	out    *gatherConn
	shard  *shard

	ctx     context.Context
	cancel  context.CancelCauseFunc
	helpers sync.WaitGroup
	left    chan struct{} // closed when the shard has forgotten the connection

	inbox Bucket // owned by read
	pings Bucket // owned by read: the library calls mayPong there

	queued atomic.Bool   // the shard is going to look after it
	away   atomic.Bool   // a goroutine serves it
	owes   atomic.Bool   // the client is to be told which friends are there
	over   atomic.Bool   // goodbye is said: the shard is to forget it
	ponged atomic.Uint64 // number of the last ping that was answered

	// Owned by whoever serves it.
	stream *delivery.Stream
	seq    uint64 // of the last frame
	times  times

	// Owned by the shard.
	alarm     alarm
	check     aliveCheck
	forgotten bool
}

func (g *Gate) newConn(who account.Principal, cursor string) *conn {
	c := &conn{
		gate: g, id: id.NewConnection(), came: time.Now(), who: who, cursor: cursor, shard: g.shardFor(), left: make(chan struct{}),
		inbox: NewBucket(g.Inbound), pings: NewBucket(pingRate),
	}
	c.away.Store(true) // until it is greeted
	c.alarm.index = noAlarm
	c.check.next(time.Now())
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

func (c *conn) log() *slog.Logger {
	return c.gate.Log.With("connection", c.id, "user", c.who.User, "device", c.who.Device)
}

// serve is the connection's life: it returns when the socket is closed and all of its goroutines have ended.
func (c *conn) serve() {
	c.helpers.Go(func() { c.serveAway(c.greet) })
	c.end(c.read())
	<-c.left
	c.helpers.Wait()
	c.log().Info("client disconnected", "cause", context.Cause(c.ctx), "frames", c.seq)
}

// end ends the connection; the first cause counts. It does not wait for it.
func (c *conn) end(cause error) {
	c.cancel(cause)
	c.out.hurry()
	c.wake()
}

// wake has the shard look after the connection. It does not block.
func (c *conn) wake() {
	if c.queued.CompareAndSwap(false, true) {
		c.shard.add(c)
	}
}

// step does everything that need not wait. It returns what must, nil if there is nothing.
func (c *conn) step(now time.Time) (wait func() error) {
	if c.ctx.Err() != nil {
		return c.sayGoodbye
	}
	frames, attached := c.stream.Take(c.shard.frames[:0])
	c.send(now, frames)
	c.shard.frames, c.shard.sent = frames, c.shard.sent+len(frames)
	c.keepTime(now)
	switch {
	case c.ctx.Err() != nil:
		return c.sayGoodbye
	case !attached:
		return c.catchUp
	case c.owes.Load():
		return c.tellFriends
	case !c.out.Try():
		return c.flush
	}
	return nil
}

// send gathers frames and writes what is worth it.
func (c *conn) send(now time.Time, frames []delivery.Frame) {
	if len(frames) == 0 {
		return
	}
	took := true // the socket, everything so far
	for rest := frames; len(rest) > 0; {
		n := worthWriting(rest)
		gathered := c.out.add(c.seq, rest[:n]...)
		c.seq += uint64(n) //nolint:gosec // a length
		if rest = rest[n:]; took && gathered >= flushAt {
			took = c.out.Try()
		}
	}
	c.times.sent(now)
}

// worthWriting is how many of the frames come to flushAt bytes; all if they are fewer.
func worthWriting(frames []delivery.Frame) int {
	size := 0
	for i, f := range frames {
		if size += f.Size(); size >= flushAt {
			return i + 1
		}
	}
	return len(frames)
}

// serveAway serves the connection in a goroutine of its own until the shard can go on, or it is over.
func (c *conn) serveAway(wait func() error) {
	err := wait()
	if err != nil {
		c.end(err)
	}
	if c.ctx.Err() != nil {
		c.goodbye()
		return
	}
	c.away.Store(false)
	c.wake()
}

// sayGoodbye leaves it to serveAway.
func (c *conn) sayGoodbye() error { return nil }

// catchUp writes pages of what has passed until the tail feeds the stream.
func (c *conn) catchUp() error {
	for !c.stream.Attached() {
		if err := c.nextPage(); err != nil {
			return err
		}
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.owes.Store(c.gate.Presence != nil) // what was told meanwhile of who comes and goes has passed it by
	return nil
}

// nextPage gathers the frames of a page and writes of them what the socket takes at once.
func (c *conn) nextPage() error {
	if err := c.gate.turns.take(c.ctx); err != nil {
		return err
	}
	defer c.gate.turns.back()
	frames, err := c.stream.Next(c.ctx)
	if err != nil {
		if c.ctx.Err() == nil {
			c.log().Error("client stream failed", "error", err)
		}
		return tryLater()
	}
	c.send(time.Now(), frames)
	c.gate.metrics.frames.Add(float64(len(frames)))
	return nil
}

// flush writes everything gathered, however long that takes.
func (c *conn) flush() error {
	if c.out.Try() {
		return nil
	}
	err := c.out.Flush()
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case errors.Is(err, errTakesNothing):
		c.gate.metrics.slow.Inc()
		return slow()
	}
	return errGone
}
