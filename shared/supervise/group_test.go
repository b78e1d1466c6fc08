package supervise_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

func TestGroupEndsWithTheFirstErrorOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		err := supervise.All(t.Context(),
			func(ctx context.Context) error {
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), broken) {
					t.Errorf("cause %v", context.Cause(ctx))
				}
				return ctx.Err()
			},
			func(context.Context) error { time.Sleep(time.Second); return broken },
		)
		if !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

func TestGroupWaitsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var finished atomic.Int32
		g := supervise.NewGroup(t.Context())
		for i := range 10 {
			g.Go(func(context.Context) error {
				time.Sleep(time.Duration(i) * time.Second)
				finished.Add(1)
				return nil
			})
		}
		if err := g.Wait(); err != nil || finished.Load() != 10 {
			t.Errorf("error %v, %d finished", err, finished.Load())
		}
	})
}

func TestCancelledGroupHasNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := supervise.NewGroup(t.Context())
		g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
		g.Cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestGroupEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := supervise.All(ctx, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
