package fanload

import (
	"context"
	"fmt"
	"time"
)

// publisher publishes messages that every subscriber is to get.
type publisher interface {
	// publish publishes so many, as one publisher would who has them at once.
	publish(n int) error

	// published is how many there were.
	published() int64

	close()
}

// pump publishes for a while: as much as the window lets, or so many a second.
type pump struct {
	by     publisher
	tally  *tally
	size   int64 // subscribers
	window int64 // messages that may be under way to every one of them
}

// deliverWithin is how long a server may take for what is under way.
const deliverWithin = 30 * time.Second

// flatOut publishes whenever there is room in the window, until ctx ends.
func (p *pump) flatOut(ctx context.Context) error {
	for ctx.Err() == nil {
		room := p.window - (p.by.published() - p.tally.delivered.Load()/p.size)
		if room < p.least() {
			// Half of the window, so that neither side works message by message.
			if !p.tally.until((p.by.published()-p.window/2)*p.size, time.After(deliverWithin)) {
				return errMissing
			}
			continue
		}
		if err := p.by.publish(int(room)); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	return nil
}

func (p *pump) least() int64 { return max(1, p.window/2) }

// steadily publishes perSecond messages, one at a time, until ctx ends. One that is late is made up for.
func (p *pump) steadily(ctx context.Context, perSecond int) error {
	start := time.Now()
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for n := 1; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for ; time.Since(start) >= time.Duration(n)*time.Second/time.Duration(perSecond); n++ {
			if err := p.by.publish(1); err != nil {
				return fmt.Errorf("publish: %w", err)
			}
		}
	}
}

// settle waits until everything that was published has been delivered to everybody.
func (p *pump) settle() error {
	if !p.tally.until(p.by.published()*p.size, time.After(deliverWithin)) {
		return fmt.Errorf("%w: %d of %d", errMissing, p.tally.delivered.Load(), p.by.published()*p.size)
	}
	return nil
}
