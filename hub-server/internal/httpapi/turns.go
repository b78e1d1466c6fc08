package httpapi

import (
	"context"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// turns lets each person do one thing at a time, of a kind that is much work. Safe for concurrent use.
type turns struct {
	mu sync.Mutex
	of map[id.User]*turn
}

type turn struct {
	token chan struct{} // is in there while somebody works
	users int           // who work, or wait
}

func newTurns() *turns { return &turns{of: map[id.User]*turn{}} }

// take waits until nothing else is done for the person. The caller calls done at the end, unless there was an error: ctx has ended.
func (t *turns) take(ctx context.Context, user id.User) (done func(), err error) {
	t.mu.Lock()
	mine := t.of[user]
	if mine == nil {
		mine = &turn{token: make(chan struct{}, 1)}
		t.of[user] = mine
	}
	mine.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.users--; mine.users == 0 {
			delete(t.of, user)
		}
	}
	select {
	case mine.token <- struct{}{}:
		return func() { <-mine.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
