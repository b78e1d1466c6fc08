package gate

import (
	"context"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

// A shard that had much to write rests before it looks again: what comes meanwhile leaves with one system call per connection. Its rounds, rest
// included, are roundShare times as long as it has worked, roundTime at most; after long work it rests for restShare of that and maxRest at
// most, for the sake of others. A shard that had little to do does not rest.
const (
	restAbove  = time.Millisecond
	roundShare = 8
	roundTime  = 24 * time.Millisecond
	restShare  = 2
	maxRest    = 10 * time.Millisecond
)

// shard writes to its share of the connections, one after the other and without waiting for any of them, and keeps their times.
// add is safe for concurrent use; everything else belongs to run.
type shard struct {
	work chan struct{} // has a value when ready is not empty

	mu    sync.Mutex
	ready []*conn

	alarms alarms
	frames []delivery.Frame // room for those of one connection
	sent   int              // frames of this round
	sentBy func(frames int)
	depart func(c *conn, wait func() error) // has c served in a goroutine of its own
}

func newShard(sentBy func(int)) *shard {
	return &shard{work: make(chan struct{}, 1), sentBy: sentBy, depart: func(c *conn, wait func() error) {
		c.helpers.Go(func() { c.serveAway(wait) })
	}}
}

// add has run look after c. It does not block.
func (s *shard) add(c *conn) {
	s.mu.Lock()
	s.ready = append(s.ready, c)
	first := len(s.ready) == 1
	s.mu.Unlock()
	if !first {
		return // whoever was first has said so
	}
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// swap returns the connections that wait, and takes the room of those before.
func (s *shard) swap(done []*conn) []*conn {
	clear(done)
	s.mu.Lock()
	defer s.mu.Unlock()
	ready := s.ready
	s.ready = done[:0]
	return ready
}

// run serves until ctx ends; by then all connections are over.
func (s *shard) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var ready []*conn
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.work:
		case <-timer.C:
		}
		start := time.Now()
		ready = s.swap(ready)
		for _, c := range ready {
			s.serve(c, start)
		}
		s.ring(start) //nolint:contextcheck // a check of a connection ends with that
		s.report()
		s.rest(ctx, time.Since(start))
		if next, ok := s.alarms.next(); ok {
			timer.Reset(time.Until(next))
		}
	}
}

// serve does for a connection what need not wait, and gives it a goroutine if something must.
func (s *shard) serve(c *conn, now time.Time) {
	c.queued.Store(false)
	switch {
	case c.forgotten:
		return
	case c.over.Load():
		c.forgotten = true
		s.alarms.remove(c)
		close(c.left)
		return
	case c.away.Load():
		s.alarms.set(c, c.check.at)
		return
	}
	if wait := c.step(now); wait != nil {
		c.away.Store(true)
		s.alarms.set(c, c.check.at)
		s.depart(c, wait)
		return
	}
	s.alarms.set(c, c.due())
}

// ring serves the connections whose time has come.
func (s *shard) ring(now time.Time) {
	for {
		c, ok := s.alarms.ring(now)
		if !ok {
			return
		}
		c.checkAlive(now)
		s.serve(c, now)
	}
}

// report counts the frames of the round.
func (s *shard) report() {
	if s.sent > 0 {
		s.sentBy(s.sent)
		s.sent = 0
	}
	if cap(s.frames) > keptFrames {
		s.frames = nil
		return
	}
	clear(s.frames[:cap(s.frames)])
}

const keptFrames = 4096

// rest waits after a round that took so long.
func (s *shard) rest(ctx context.Context, took time.Duration) {
	pause := restAfter(took)
	if pause == 0 {
		return
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

func restAfter(took time.Duration) time.Duration {
	if took < restAbove {
		return 0
	}
	return max(min(roundShare*took, roundTime)-took, min(restShare*took, maxRest))
}
