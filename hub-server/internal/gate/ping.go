package gate

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	pingEvery  = 20 * time.Second // give or take pingJitter
	pingJitter = 4 * time.Second
	pongWithin = 10 * time.Second

	// A ping acknowledges the frames before it: soon after the first of them, but not more often than needed.
	ackAfter = 50 * time.Millisecond
	ackEvery = time.Second
)

// ackSoon sees to it that a ping follows the frames that were sent.
func (c *conn) ackSoon() {
	if c.ackDue {
		return
	}
	c.ackDue = true
	c.ping.Reset(max(ackAfter, ackEvery-time.Since(c.pinged)))
}

// startPing pings and, when the pong follows all frames up to here, moves the device's mark to here.
func (c *conn) startPing() {
	if !c.pinging.CompareAndSwap(false, true) {
		c.ping.Reset(ackEvery)
		return
	}
	c.ackDue, c.pinged = false, time.Now()
	c.ping.Reset(spread(pingEvery, pingJitter))
	served := c.stream.Position()
	c.helpers.Go(func() {
		defer c.pinging.Store(false)
		if c.awaitPong() {
			c.gate.Marks.Move(c.who.User, c.who.Device, served)
		}
	})
}

// awaitPong returns true when the client has answered, and ends the connection if it does not. While the socket is busy with what lies
// before the ping, it waits on.
func (c *conn) awaitPong() bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex // the function below waits until watch is set
	var watch *time.Timer
	mu.Lock()
	watch = time.AfterFunc(pongWithin, func() {
		mu.Lock()
		defer mu.Unlock()
		if c.out.busy(time.Now()) {
			watch.Reset(pongWithin)
			return
		}
		cancel()
	})
	mu.Unlock()
	defer watch.Stop()
	err := c.socket.Ping(ctx)
	if err != nil && ctx.Err() != nil {
		c.end(silent())
	}
	return err == nil
}

func spread(d, jitter time.Duration) time.Duration { return d - jitter + rand.N(2*jitter) }
