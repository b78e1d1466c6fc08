package retention

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slowOutbox takes some time per row.
type slowOutbox struct {
	perRow  time.Duration
	rows    int // older than asked for
	limits  []int
	longest time.Duration // of a slice, after the first ones
	before  time.Time
	fail    error
}

func (o *slowOutbox) Trim(_ context.Context, before time.Time, limit int) (int, time.Duration, error) {
	if err := o.fail; err != nil {
		o.fail = nil
		return 0, 0, err
	}
	removed := min(limit, o.rows)
	held := time.Duration(removed) * o.perRow
	o.rows, o.before, o.limits = o.rows-removed, before, append(o.limits, limit)
	if len(o.limits) > 5 {
		o.longest = max(o.longest, held)
	}
	return removed, held, nil
}

// turns gives each look its turn, or none.
type turns bool

func (turns) Begin(context.Context, time.Time) error { return nil }

func (mine turns) Take(context.Context, time.Time) (bool, error) { return bool(mine), nil }

// run lets a trimmer work for some time.
func run(t *testing.T, o *slowOutbox, mine turns, keep, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- NewTrimmer(o, mine, keep, slog.New(slog.DiscardHandler)).Run(ctx) }()
	time.Sleep(d)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSlicesGrowAndShrinkWithTheMachine(t *testing.T) {
	for name, perRow := range map[string]time.Duration{"fast": time.Microsecond, "slow": 100 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &slowOutbox{perRow: perRow, rows: 100_000, fail: errors.New("busy")}
				run(t, o, true, time.Hour, 2*lookEvery+time.Second)
				if o.rows != 0 || o.longest > maxHold || o.longest < maxHold/4 {
					t.Errorf("%d rows are left, the longest slice took %s; limits %v", o.rows, o.longest, o.limits[:6])
				}
				if kept := time.Since(o.before); kept < time.Hour || kept > time.Hour+lookEvery {
					t.Errorf("rows of the last %s are kept", kept)
				}
			})
		})
	}
}

func TestNothingIsTrimmedThatIsKeptForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slowOutbox{rows: 10}
		run(t, o, true, 0, 24*time.Hour)
		if o.rows != 10 {
			t.Errorf("%d rows are left", o.rows)
		}
	})
}

func TestAHubWhoseTurnItIsNotTrimsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slowOutbox{rows: 10}
		run(t, o, false, time.Hour, 24*time.Hour)
		if o.rows != 10 {
			t.Errorf("%d rows are left", o.rows)
		}
	})
}
