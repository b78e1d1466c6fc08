package supervise_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// journal notes what happens, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(j.lines, want) {
		t.Errorf("got  %q\nwant %q", j.lines, want)
	}
}

// part notes its start and its stop, and takes its time for both.
func (j *journal) part(name string, slow time.Duration) supervise.Part {
	ready := make(chan struct{})
	return supervise.Part{Name: name, Ready: ready, Run: func(ctx context.Context) error {
		time.Sleep(slow)
		j.note("start " + name)
		close(ready)
		<-ctx.Done()
		time.Sleep(slow)
		j.note("stop " + name)
		return ctx.Err()
	}}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestPartsStartInOrderAndStopInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- supervise.Run(ctx, quiet(), time.Minute, j.part("store", time.Second), j.part("bus", 2*time.Second), j.part("http", 3*time.Second))
		}()
		time.Sleep(10 * time.Second)
		j.expect(t, "start store", "start bus", "start http")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		j.expect(t, "start store", "start bus", "start http", "stop http", "stop bus", "stop store")
	})
}

func TestFirstErrorStopsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		broken := errors.New("disk on fire")
		failing := supervise.Part{Name: "bus", Run: func(context.Context) error {
			time.Sleep(5 * time.Second)
			return broken
		}}
		err := supervise.Run(t.Context(), quiet(), time.Minute, j.part("store", 0), failing, j.part("http", 0))
		if !errors.Is(err, broken) || err.Error() != "bus: disk on fire" {
			t.Errorf("error %v", err)
		}
		j.expect(t, "start store", "start http", "stop http", "stop store")
	})
}

func TestPartThatFailsBeforeItIsReadyKeepsTheNextFromStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		broken := errors.New("port taken")
		failing := supervise.Part{Name: "bus", Ready: make(chan struct{}), Run: func(context.Context) error { return broken }}
		err := supervise.Run(t.Context(), quiet(), time.Minute, j.part("store", 0), failing, j.part("http", 0))
		if !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		j.expect(t, "start store", "stop store")
	})
}

func TestEarlierPartThatFailsWhileOneGetsReadyStopsTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		broken := errors.New("gone")
		failing := supervise.Part{Name: "store", Run: func(context.Context) error { return broken }}
		if err := supervise.Run(t.Context(), quiet(), time.Minute, failing, j.part("bus", time.Second), j.part("http", 0)); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		j.expect(t, "start bus", "stop bus")
	})
}

func TestEndOfContextWhileStartingStopsWhatHasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		never := supervise.Part{Name: "bus", Ready: make(chan struct{}), Run: func(ctx context.Context) error { <-ctx.Done(); return nil }}
		if err := supervise.Run(ctx, quiet(), time.Minute, j.part("store", 0), never, j.part("http", 0)); err != nil {
			t.Error(err)
		}
		j.expect(t, "start store", "stop store")
	})
}

func TestPartThatIsDoneStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		once := supervise.Part{Name: "migrate", Run: func(context.Context) error { j.note("migrate"); return nil }}
		start := time.Now()
		if err := supervise.Run(ctx, quiet(), time.Minute, once, j.part("http", time.Second)); err != nil {
			t.Error(err)
		}
		if got := time.Since(start); got < time.Hour {
			t.Errorf("ended after %s", got)
		}
		j.expect(t, "migrate", "start http", "stop http")
	})
}

func TestRunEndsWhenEveryPartIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := supervise.Part{Name: "x", Ready: make(chan struct{}), Run: func(context.Context) error { return nil }}
		if err := supervise.Run(t.Context(), quiet(), time.Minute, done); err != nil {
			t.Error(err)
		}
	})
}

func TestErrorsWhileStoppingAreReportedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := errors.New("first"), errors.New("second")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		stubborn := func(name string, err error) supervise.Part {
			return supervise.Part{Name: name, Run: func(ctx context.Context) error { <-ctx.Done(); return err }}
		}
		err := supervise.Run(ctx, quiet(), time.Minute, stubborn("a", first), stubborn("b", second))
		if !errors.Is(err, first) || !errors.Is(err, second) {
			t.Errorf("error %v", err)
		}
	})
}

func TestStopHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		release := make(chan struct{})
		stuck := supervise.Part{Name: "stuck", Run: func(context.Context) error { <-release; return nil }}
		start := time.Now()
		err := supervise.Run(ctx, quiet(), 10*time.Second, j.part("store", 0), stuck, j.part("http", 0))
		if !errors.Is(err, supervise.ErrStopTimeout) {
			t.Errorf("error %v", err)
		}
		if got := time.Since(start); got != 11*time.Second {
			t.Errorf("took %s", got)
		}
		synctest.Wait()
		j.expect(t, "start store", "start http", "stop http", "stop store") // store is told at once, though nobody waits
		close(release)
	})
}
