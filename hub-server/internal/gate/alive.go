package gate

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	aliveEvery  = 30 * time.Second // re-check of the refresh family
	aliveWithin = 5 * time.Second
	aliveTries  = 3 // checks that may fail for want of an answer before the connection is given up
)

// aliveCheck is when the login behind a connection is looked at next (SEC8). at is owned by the shard.
type aliveCheck struct {
	at       time.Time
	running  atomic.Bool
	unproven int // checks in a row without an answer; owned by the one that runs
}

// next sets the time of the next check.
func (a *aliveCheck) next(now time.Time) { a.at = now.Add(spread(aliveEvery, aliveEvery/10)) }

// checkAlive begins a check if it is time, whoever serves the connection meanwhile.
func (c *conn) checkAlive(now time.Time) {
	if now.Before(c.check.at) || c.over.Load() {
		return
	}
	c.check.next(now)
	if c.check.running.CompareAndSwap(false, true) {
		c.helpers.Go(func() {
			defer c.check.running.Store(false)
			c.proveAlive()
		})
	}
}

// proveAlive asks whether the login behind the connection still stands, and ends the connection if it does not.
func (c *conn) proveAlive() {
	ctx, cancel := context.WithTimeout(c.ctx, aliveWithin)
	defer cancel()
	alive, err := c.gate.Devices.FamilyAlive(ctx, c.who.Family)
	switch {
	case c.ctx.Err() != nil:
	case err != nil:
		if c.check.unproven++; c.check.unproven >= aliveTries {
			c.log().Error("login behind connection unproven", "error", err)
			c.end(tryLater())
		}
	case !alive:
		c.end(loginEnded())
	default:
		c.check.unproven = 0
	}
}
