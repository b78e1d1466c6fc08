package cards

import (
	"context"
	"math/rand/v2"
	"time"
)

// pace is how a connection keeps time. Tests have less of it.
type pace struct {
	ping   time.Duration // between pings, give or take a fifth
	silent time.Duration // without any frame or pong: then the client is given up (R31)
	alive  time.Duration // between checks of the login (SEC8)
	again  time.Duration // after trouble with the store
}

func usualPace() pace {
	return pace{ping: 20 * time.Second, silent: 60 * time.Second, alive: 30 * time.Second, again: time.Second}
}

const (
	aliveWithin = 5 * time.Second
	aliveTries  = 3 // checks that may fail for want of an answer before the connection is given up
)

// keepTime pings, gives up a client of which nothing is heard, and checks that its login still stands.
func (c *conn) keepTime() {
	pace := c.server.pace
	ping := time.NewTimer(0)
	defer ping.Stop()
	alive := time.NewTicker(spread(pace.alive, pace.alive/10))
	defer alive.Stop()
	unproven := 0
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-alive.C:
			c.proveAlive(&unproven)
		case <-ping.C:
			ping.Reset(spread(pace.ping, pace.ping/5))
			if time.Since(time.Unix(0, c.seen.Load())) > pace.silent && !c.socket.Busy() {
				c.end(silent())
				return
			}
			c.socket.Ping()
			c.wakeUp()
		}
	}
}

// proveAlive asks whether the login behind the connection still stands, and ends the connection if it does not.
func (c *conn) proveAlive(unproven *int) {
	ctx, cancel := context.WithTimeout(c.ctx, aliveWithin)
	defer cancel()
	alive, err := c.server.Devices.FamilyAlive(ctx, c.who.Family)
	switch {
	case c.ctx.Err() != nil:
	case err != nil:
		if *unproven++; *unproven >= aliveTries {
			c.log().Error("login behind connection unproven", "error", err)
			c.end(tryLater())
		}
	case !alive:
		c.end(loginEnded())
	default:
		*unproven = 0
	}
}

func spread(d, jitter time.Duration) time.Duration { return d - jitter + rand.N(2*jitter+1) }
