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

const (
	heartbeat   = 20 * time.Second // of silence, then auth.ok again
	aliveEvery  = 30 * time.Second // re-check of the refresh family
	aliveWithin = 5 * time.Second
	aliveTries  = 3 // checks that may fail for want of an answer before the connection is given up
)

// conn is one device's connection. Two goroutines serve it: serve writes, read reads; a ping has one of its own while it waits.
type conn struct {
	gate   *Gate
	id     id.Connection
	who    account.Principal
	cursor string // what the client showed
	log    *slog.Logger

	socket *websocket.Conn
	out    *gatherConn

	ctx     context.Context
	end     context.CancelCauseFunc // ends the connection; the first cause counts
	helpers sync.WaitGroup

	inbox bucket // owned by read
	pings bucket // owned by read: the library calls mayPong there

	// Owned by serve.
	stream   *delivery.Stream
	seq      uint64 // of the last frame
	scratch  []byte
	beat     *time.Timer
	ping     *time.Timer
	pinged   time.Time // when the last ping went out
	ackDue   bool      // frames were sent since then
	unproven int       // family checks in a row without an answer

	pinging atomic.Bool
}

func (g *Gate) newConn(who account.Principal, cursor string) *conn {
	c := &conn{
		gate: g, id: id.NewConnection(), who: who, cursor: cursor,
		inbox: newBucket(inboundPerSecond, inboundBurst), pings: newBucket(pingsPerSecond, pingsBurst),
	}
	c.log = g.Log.With("connection", c.id, "user", who.User, "device", who.Device)
	c.ctx, c.end = context.WithCancelCause(context.Background())
	return c
}

// serve is the connection's life: it returns when the socket is closed and all of its goroutines have ended.
func (c *conn) serve() {
	stopHurry := context.AfterFunc(c.ctx, func() { c.out.hurry() })
	defer stopHurry()
	c.helpers.Go(func() { c.end(c.read()) })
	c.end(c.write())
	cause := context.Cause(c.ctx)
	c.close(cause)
	c.helpers.Wait()
	c.log.Info("client disconnected", "cause", cause, "frames", c.seq)
}

// write greets the client and then writes until the connection ends; it returns why.
func (c *conn) write() error {
	err := c.greet()
	if c.stream != nil {
		defer c.stream.Close()
	}
	if err != nil {
		return err
	}
	c.beat, c.ping = time.NewTimer(heartbeat), time.NewTimer(0)
	alive := time.NewTicker(spread(aliveEvery, aliveEvery/10))
	defer c.beat.Stop()
	defer c.ping.Stop()
	defer alive.Stop()
	for {
		if err := c.step(alive.C); err != nil {
			return err
		}
		if err := c.flush(); err != nil {
			return err
		}
	}
}

// step waits for one thing to do and does it; what it writes is gathered.
func (c *conn) step(alive <-chan time.Time) error {
	select {
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-c.stream.Ready():
		return c.forward()
	case <-c.out.waiting:
		return nil // a control frame of the library
	case <-c.beat.C:
		return c.beatAgain()
	case <-c.ping.C:
		c.startPing()
		return nil
	case <-alive:
		return c.checkAlive()
	}
}

// forward writes what the stream has next.
func (c *conn) forward() error {
	frames, err := c.stream.Next(c.ctx)
	if err != nil {
		if c.ctx.Err() == nil {
			c.log.Error("client stream failed", "error", err)
		}
		return tryLater()
	}
	for _, f := range frames {
		if err := c.send(f); err != nil {
			return err
		}
	}
	if len(frames) == 0 {
		return nil
	}
	c.gate.metrics.frames.Add(float64(len(frames)))
	c.beat.Reset(heartbeat)
	c.ackSoon()
	return nil
}

// beatAgain says again what auth.ok said first, with the cursor as it is now: the heartbeat that a browser can see, and an idle client's
// cursor never goes stale.
func (c *conn) beatAgain() error {
	c.beat.Reset(heartbeat)
	return c.sendAuthOK(delivery.Plan{Outcome: delivery.Replayed}, c.stream.Cursor())
}

// send gives a frame its number and gathers it; enough of them are flushed.
func (c *conn) send(f delivery.Frame) error {
	c.seq++
	c.scratch = f.Append(c.scratch[:0], c.seq)
	// Without a deadline of its own: gathering does not block, and Flush has one.
	if err := c.socket.Write(context.Background(), websocket.MessageText, c.scratch); err != nil {
		return errGone
	}
	if cap(c.scratch) > flushAt {
		c.scratch = nil
	}
	if c.out.gathered() < flushAt {
		return nil
	}
	return c.flush()
}

func (c *conn) flush() error {
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

// checkAlive asks whether the login behind the connection still stands (SEC8).
func (c *conn) checkAlive() error {
	ctx, cancel := context.WithTimeout(c.ctx, aliveWithin)
	defer cancel()
	alive, err := c.gate.Devices.FamilyAlive(ctx, c.who.Family)
	switch {
	case err != nil:
		if c.unproven++; c.unproven >= aliveTries {
			c.log.Error("login behind connection unproven", "error", err)
			return tryLater()
		}
	case !alive:
		return loginEnded()
	default:
		c.unproven = 0
	}
	return nil
}
