package retention

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// slowLogs holds ended runs of so many events each, and takes some time per event that it removes.
type slowLogs struct {
	perEvent time.Duration
	events   runlog.EventSeq
	waiting  []id.Run
	broken   id.Run // cannot be read
	toRemove int
	quiet    time.Time
	slices   int
	left     int           // runs
	longest  time.Duration // of a slice, after the first ones
}

func (l *slowLogs) Begin(context.Context) (bool, error) { return true, nil }

func (l *slowLogs) Bytes(context.Context) (int64, error) {
	return int64(len(l.waiting)) * int64(l.events), nil //nolint:gosec // small numbers
}

func (l *slowLogs) Leaving(_ context.Context, after Mark, quiet time.Time, limit int) (page []Leaving, _ error) {
	l.quiet = quiet
	for i, run := range l.waiting {
		at := Leaving{End: delivery.Position(i + 1), Header: archive.Header{Run: run, From: 1, To: l.events}} //nolint:gosec // a small number
		if at.End > after.End && len(page) < limit {
			page = append(page, at)
		}
	}
	return page, nil
}

func (l *slowLogs) Untold(context.Context, time.Time, int) ([]id.Session, error) { return nil, nil }

func (l *slowLogs) Claim(context.Context, Leaving) (bool, error) { return true, nil }

func (l *slowLogs) Kept(_ context.Context, run id.Run, after runlog.EventSeq, limit int) (page []archive.Event, _ error) {
	if run == l.broken {
		return nil, errors.New("broken")
	}
	for seq := after + 1; seq <= l.events && len(page) < limit; seq++ {
		page = append(page, archive.Event{StoredEvent: runlog.StoredEvent{Run: run, Seq: seq, Payload: []byte(`{}`)}})
	}
	return page, nil
}

func (l *slowLogs) Leave(context.Context, Leaving, archive.Summary, int64) (bool, error) {
	l.left++
	l.toRemove += int(l.events) //nolint:gosec // a small number
	return true, nil
}

func (l *slowLogs) Remove(_ context.Context, limit int) (int, time.Duration, error) {
	removed := min(limit, l.toRemove)
	held := time.Duration(removed) * l.perEvent
	l.toRemove -= removed
	if l.slices++; l.slices > 5 && removed == limit {
		l.longest = max(l.longest, held)
	}
	return removed, held, nil
}

func pass(t *testing.T, l *slowLogs, p Policy) {
	t.Helper()
	a := NewArchiver(l, nil, archive.Dir(filepath.Join(t.TempDir(), "a")), p, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
	if err := a.Pass(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
}

func TestNoSliceOfALogHoldsUpOthersForLong(t *testing.T) {
	for name, per := range map[string]time.Duration{"fast": time.Microsecond, "slow": 100 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			l := &slowLogs{perEvent: per, events: 10_000, waiting: []id.Run{id.NewRun(), id.NewRun(), id.NewRun()}}
			pass(t, l, Policy{Age: time.Hour})
			if l.toRemove != 0 || l.longest > maxHold || l.longest < maxHold/4 {
				t.Errorf("%d events are left, the longest slice took %s", l.toRemove, l.longest)
			}
		})
	}
}

func TestARunThatCannotBeArchivedHoldsUpNoOther(t *testing.T) {
	l := &slowLogs{events: 3}
	for range leavingPage + 2 {
		l.waiting = append(l.waiting, id.NewRun())
	}
	l.broken = l.waiting[0]
	pass(t, l, Policy{Age: 100 * time.Hour})
	if l.left != leavingPage+1 || l.toRemove != 0 {
		t.Errorf("%d of %d runs have left, %d events are left of them", l.left, len(l.waiting), l.toRemove)
	}
	if kept := time.Since(l.quiet); kept < 100*time.Hour || kept > 101*time.Hour {
		t.Errorf("runs stay for %s", kept)
	}
}

func TestNoRunLeavesThatIsKeptForEverOrMayHearMore(t *testing.T) {
	l := &slowLogs{events: 3, waiting: []id.Run{id.NewRun()}}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 24*time.Hour)
		defer stop()
		a := NewArchiver(l, nil, archive.Dir(t.TempDir()), Policy{}, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
		if err := a.Run(ctx); err != nil || !l.quiet.IsZero() {
			t.Errorf("it looked for runs, %v", err)
		}
	})
	pass(t, l, Policy{Age: time.Second, Bytes: 1})
	if kept := time.Since(l.quiet); kept < LateWindow {
		t.Errorf("runs leave after %s", kept)
	}
}
