package gate

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

const (
	heartbeat  = 20 * time.Second // of silence, then auth.ok again
	pingEvery  = 20 * time.Second // give or take pingJitter
	pingJitter = 4 * time.Second
	pongWithin = 10 * time.Second

	// A ping acknowledges the frames before it: soon after the first of them, but not more often than needed.
	ackAfter = 50 * time.Millisecond
	ackEvery = time.Second
)

// times are when a connection must say something, or hear something.
type times struct {
	beat   time.Time // auth.ok again
	ping   time.Time
	pinged time.Time // when the last ping went out
	pongBy time.Time // zero: no ping waits for its pong
	ackDue bool      // frames were sent since the last ping

	pings  uint64            // so many went out; the last one carries the number
	served delivery.Position // where the stream was at the last ping
}

// begin starts the clocks of a connection that has been greeted.
func (t *times) begin(now time.Time) { t.beat, t.ping = now.Add(heartbeat), now }

// sent puts the heartbeat off, and sees to it that a ping follows the frames that were sent.
func (t *times) sent(now time.Time) {
	t.beat = now.Add(heartbeat)
	if !t.ackDue {
		t.ackDue = true
		t.ping = now.Add(max(ackAfter, ackEvery-now.Sub(t.pinged)))
	}
}

// due is when the connection must be looked after next.
func (c *conn) due() time.Time {
	t := &c.times
	due := t.ping
	for _, at := range []time.Time{t.beat, t.pongBy, c.check.at} {
		if !at.IsZero() && at.Before(due) {
			due = at
		}
	}
	return due
}

// keepTime does what the clock says.
func (c *conn) keepTime(now time.Time) {
	t := &c.times
	c.takePong()
	if !now.Before(t.beat) {
		t.beat = now.Add(heartbeat)
		c.beatAgain()
	}
	if !t.pongBy.IsZero() && !now.Before(t.pongBy) {
		if !c.out.busy() {
			c.end(silent())
			return
		}
		t.pongBy = now.Add(pongWithin) // what lies before the ping is still on its way
	}
	if !now.Before(t.ping) {
		c.pingOrWait(now)
	}
}

// takePong moves the device's mark to where the stream was when the ping went out: the client has everything up to there.
func (c *conn) takePong() {
	t := &c.times
	if t.pongBy.IsZero() || c.ponged.Load() != t.pings {
		return
	}
	t.pongBy = time.Time{}
	c.gate.Marks.Move(c.who.User, c.who.Device, t.served)
}

// pingOrWait pings, one at a time.
func (c *conn) pingOrWait(now time.Time) {
	t := &c.times
	if !t.pongBy.IsZero() {
		t.ping = now.Add(ackEvery)
		return
	}
	t.pings++
	t.ackDue, t.pinged, t.served = false, now, c.stream.Position()
	t.ping, t.pongBy = now.Add(spread(pingEvery, pingJitter)), now.Add(pongWithin)
	var room [20]byte
	c.out.ping(strconv.AppendUint(room[:0], t.pings, 10))
}

// heardPong notes which ping was answered; a pong that nobody asked for has no meaning. It is called by the reader.
func (c *conn) heardPong(payload []byte) {
	if n, err := strconv.ParseUint(string(payload), 10, 64); err == nil {
		c.ponged.Store(n)
		c.wake()
	}
}

func spread(d, jitter time.Duration) time.Duration { return d - jitter + rand.N(2*jitter) }
