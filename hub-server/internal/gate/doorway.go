package gate

import (
	"context"
	"runtime"
)

// Doorway bounds how many connections are on their way in at once: each costs the store a few reads, and memory, until it is greeted.
// Safe for concurrent use.
type Doorway chan struct{}

// NewDoorway returns one with so many places.
func NewDoorway(places int) Doorway { return make(Doorway, places) }

// Enter takes a place; false if there is none.
func (d Doorway) Enter() bool {
	select {
	case d <- struct{}{}:
		return true
	default:
		return false
	}
}

// Leave gives the place back.
func (d Doorway) Leave() { <-d }

// turns lets those who open or catch up work a few at a time. When thousands come back together, all of them would be ready to run at once, and what
// is live would wait behind them at each step of its way. Safe for concurrent use.
type turns chan struct{}

func newTurns() turns { return make(turns, 2*runtime.GOMAXPROCS(0)) }

// take waits for a turn, which does not wait for a client; the caller gives it back. It fails when ctx ends.
func (t turns) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turns) back() { <-t }
