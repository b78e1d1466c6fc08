package supervise

import (
	"context"
	"sync"
)

// Group is a set of goroutines that are waited for together. The first error cancels the context of all; a function whose failure must not
// touch the others returns nil. Safe for concurrent use; Go must not be called once Wait has returned.
type Group struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once
	err    error
}

// NewGroup returns an empty group whose context ends with ctx.
func NewGroup(ctx context.Context) *Group {
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{ctx: ctx, cancel: cancel}
}

// Go runs fn in a goroutine of the group. fn must return soon after its context ends.
func (g *Group) Go(fn func(context.Context) error) {
	g.wg.Go(func() {
		if err := fn(g.ctx); err != nil {
			g.once.Do(func() {
				g.err = err
				g.cancel(err)
			})
		}
	})
}

// Cancel ends the context of the group without an error.
func (g *Group) Cancel() { g.cancel(nil) }

// Wait returns when all functions have returned, with the first error.
func (g *Group) Wait() error {
	g.wg.Wait()
	g.cancel(nil)
	return g.err
}

// All runs fns at the same time and returns when all have returned, with the first error, which cancels the others.
func All(ctx context.Context, fns ...func(context.Context) error) error {
	g := NewGroup(ctx)
	for _, fn := range fns {
		g.Go(fn)
	}
	return g.Wait()
}
