package fanload

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// crowd is many subscribers of one server. A socket that ends without being cut by us is its failure.
type crowd struct {
	to      dialect
	tally   *tally
	members []*subscriber

	reading sync.WaitGroup
	mu      sync.Mutex
	cut     map[*socket]bool // by us
	failed  error            // the first failure
}

func newCrowd(to dialect, size int) *crowd {
	c := &crowd{to: to, tally: newTally(), cut: map[*socket]bool{}}
	for i := range size {
		c.members = append(c.members, &subscriber{who: i, to: to, tally: c.tally})
	}
	return c
}

// dialers is how many connections are opened at once.
const dialers = 32

// connect opens the sockets of some members, several at once, and lets them read.
func (c *crowd) connect(ctx context.Context, members []*subscriber) error {
	next := make(chan *subscriber)
	dialing := supervise.NewGroup(ctx)
	dialing.Go(func(ctx context.Context) error {
		defer close(next)
		for _, m := range members {
			select {
			case next <- m:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range dialers {
		dialing.Go(func(context.Context) error {
			for m := range next {
				if err := c.to.open(m); err != nil {
					return fmt.Errorf("subscriber %d: %w", m.who, err)
				}
				c.read(m)
			}
			return nil
		})
	}
	return dialing.Wait()
}

// read lets a member read until its socket ends.
func (c *crowd) read(m *subscriber) {
	m.ended = make(chan struct{})
	c.reading.Go(func() {
		defer close(m.ended)
		err := m.follow()
		m.socket.cut()
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.cut[m.socket] && c.failed == nil {
			c.failed = fmt.Errorf("subscriber %d: %w", m.who, err)
			close(c.tally.broken)
		}
	})
}

// leave cuts some members off and returns when they have stopped reading.
func (c *crowd) leave(members []*subscriber) {
	c.mu.Lock()
	for _, m := range members {
		if m.ended != nil {
			c.cut[m.socket] = true
			m.socket.cut()
		}
	}
	c.mu.Unlock()
	for _, m := range members {
		if m.ended != nil {
			<-m.ended
		}
	}
}

// close cuts everybody off, waits for them, and returns what went wrong with any of them before.
func (c *crowd) close() error {
	c.leave(c.members)
	c.reading.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

var errMissing = errors.New("not everything that was published was delivered")
