package fanload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// bringBack lets some subscribers miss messages and come back where they were, while the others go on. First everybody is there for the span;
// then some are cut off, so many messages are published, and those come back while publishing goes on at its rate.
func (p Plan) bringBack(ctx context.Context, c *crowd, r *Result) error {
	by, err := p.publisher(ctx)
	if err != nil {
		return err
	}
	defer by.close()
	pump := &pump{by: by, tally: c.tally, size: int64(p.Subscribers)}
	gone, stayed := c.members[:p.Returning], int64(p.Subscribers-p.Returning)
	if err := p.measure(ctx, pump, func(ctx context.Context) error { return pump.steadily(ctx, p.PerSecond) }, r); err != nil {
		return err
	}
	c.leave(gone)
	if err := pump.batches(p.Missed, stayed); err != nil {
		return err
	}
	var back sync.WaitGroup
	for _, m := range gone {
		back.Add(1)
		m.target, m.reached = by.published(), back.Done
	}
	c.tally.restart()
	start := time.Now()
	steady, stop := context.WithCancel(ctx)
	defer stop()
	publishing := supervise.NewGroup(ctx)
	publishing.Go(func(context.Context) error { return pump.steadily(steady, p.PerSecond) })
	if err := c.connect(ctx, gone); err != nil {
		return err
	}
	r.Connecting = time.Since(start)
	if !c.tally.within(backWithin, back.Wait) {
		return fmt.Errorf("%w: to those who came back", errMissing)
	}
	r.Back = time.Since(start)
	if !c.tally.until(c.tally.delivered.Load()+int64(p.Subscribers), time.After(deliverWithin)) { // so that somebody felt it, however short it was
		return errMissing
	}
	c.tally.pause()
	stop()
	if err := publishing.Wait(); err != nil {
		return err
	}
	r.P99During = c.tally.at(0.99)
	return pump.settle()
}

// batches publishes so many, a few at a time, each few when those before are with so many subscribers.
func (p *pump) batches(n int, subscribers int64) error {
	const few = 20
	for n > 0 {
		now := min(few, n)
		target := p.tally.delivered.Load() + int64(now)*subscribers
		if err := p.by.publish(now); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
		if !p.tally.until(target, time.After(deliverWithin)) {
			return errMissing
		}
		n -= now
	}
	return nil
}

// backWithin is how long the last one may take.
const backWithin = 3 * time.Minute

// within says whether f returns in time. If not, it goes on: the process ends soon.
func (t *tally) within(limit time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-t.broken:
	case <-time.After(limit):
	}
	return false
}
