package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const smallCap = 1 << 20

// filled is a journal that is used to at least percent of its cap.
func filled(t *testing.T, percent int64) *opened {
	t.Helper()
	opts := options(t.TempDir())
	opts.Cap = smallCap
	j := open(t, opts)
	r := id.NewRun()
	for j.State().Used*100/smallCap < percent {
		if err := j.Commit(t.Context(), origin(r), state(strings.Repeat("x", 8000))); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func tick() run.Candidate {
	return run.Candidate{Type: event.SessionMetrics, Payload: event.SessionStatePayload{State: "tick"}}
}

func TestTicksAreShedWhenSpaceRunsLow(t *testing.T) {
	for name, tt := range map[string]struct {
		percent int64
		kept    bool
	}{"at 70 %": {70, true}, "at 80 %": {80, false}} {
		t.Run(name, func(t *testing.T) {
			j := filled(t, tt.percent)
			r := id.NewRun()
			before := j.State().Head
			if err := errors.Join(j.Append(t.Context(), origin(r), tick(), state("kept")), j.Flush(t.Context(), r)); err != nil {
				t.Fatal(err)
			}
			want := before + 1
			if tt.kept {
				want++
			}
			if head := j.State().Head; head != want {
				t.Errorf("head is %d, want %d", head, want)
			}
		})
	}
}

func TestNewRunsAreTurnedAwayWhenTheJournalIsAlmostFull(t *testing.T) {
	if filled(t, 80).Busy() {
		t.Error("busy at 80 %")
	}
	if !filled(t, 95).Busy() {
		t.Error("not busy at 95 %")
	}
}

func TestFullJournalHoldsAgentsBackButTakesTheirEnd(t *testing.T) {
	j := filled(t, 100)
	r := id.NewRun()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Append(ctx, origin(r), state("more")); !errors.Is(err, journal.ErrFull) || !errors.Is(err, context.Canceled) {
		t.Errorf("append to a full journal: %v", err)
	}
	if err := j.Commit(t.Context(), origin(r), completed()); err != nil {
		t.Errorf("terminal: %v", err)
	}
}

// An append that waits for room goes on when the hub has caught up.
func TestHeldBackAgentGoesOnWhenSpaceIsFreed(t *testing.T) {
	j := filled(t, 100)
	r := id.NewRun()
	appended := make(chan error, 1)
	stop := startAll(t, func(ctx context.Context) error {
		appended <- j.Append(ctx, origin(r), state("at last"))
		return nil
	})
	s := j.State()
	j.PutCommitted(wire.CommitReceipt{Incarnation: s.Incarnation, Seq: s.Head})
	j.MaintainOnce(t)
	if err := <-appended; err != nil {
		t.Fatal(err)
	}
	stop()
	if after := j.State(); after.Used >= s.Used || after.Floor <= s.Floor {
		t.Errorf("before %+v, after %+v", s, after)
	}
	if err := j.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOneRunCannotFillTheQueueForOthers(t *testing.T) {
	j := openStill(t, options(t.TempDir())) // nobody writes: everything waits
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	loud, quiet := id.NewRun(), id.NewRun()
	var err error
	for n := 0; err == nil; n++ {
		if n > 1<<16 {
			t.Fatal("the queue has no bound")
		}
		err = j.Append(ctx, origin(loud), state("loud"))
	}
	if !errors.Is(err, journal.ErrFull) {
		t.Errorf("got %v", err)
	}
	if err := j.Append(ctx, origin(quiet), state("quiet")); err != nil {
		t.Errorf("the other run: %v", err)
	}
}

func TestFullDiskIsSurvived(t *testing.T) {
	j := open(t, options(t.TempDir()))
	r := id.NewRun()
	if err := j.Commit(t.Context(), origin(r), state("before")); err != nil {
		t.Fatal(err)
	}
	lift := j.LimitPages(t, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stored := make(chan error, 1)
	stop := startAll(t, func(context.Context) error {
		stored <- j.Commit(ctx, origin(r), state(strings.Repeat("x", 200_000)))
		return nil
	}, j.Maintain)
	eventually(t, "busy", j.Busy)
	select {
	case err := <-stored:
		t.Fatalf("committed to a full disk: %v", err)
	default:
	}
	lift()
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	stop()
	if found := rows(t, j.Journal, 1); len(found) != 2 {
		t.Errorf("%d rows", len(found))
	}
}

func TestLargeValueWaitsForSpaceOnAFullDisk(t *testing.T) {
	j := open(t, options(t.TempDir()))
	r := id.NewRun()
	j.FailBlobs(1)
	if err := j.Commit(t.Context(), origin(r), large()); err != nil {
		t.Fatalf("with the reserve: %v", err)
	}
	if !j.Busy() {
		t.Error("not busy without a reserve")
	}
	j.FailBlobs(1 << 30)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Append(ctx, origin(r), large()); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got %v", err)
	}
	j.MaintainOnce(t)
	if j.Busy() {
		t.Error("still busy with the reserve back")
	}
}
