package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/event"
)

const testKind timer.Kind = "test"

// errDied stands for the end of a hub between the claim of a timer and the fact that it fires: neither is kept.
var errDied = errors.New("died")

// fire takes a timer and stores a fact that names it, in one transaction.
func fire(ctx context.Context, w *Writer, due timer.Timer, dies bool) error {
	return w.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		if err := tx.claimTimer(ctx, due); err != nil {
			return err
		}
		tx.Audit(audit.Entry{Act: "test.fired", Target: due.Key})
		if dies {
			return errDied
		}
		return nil
	})
}

// fired counts the facts of each timer.
func fired(t *testing.T, s *Store) map[string]int {
	t.Helper()
	facts := map[string]int{}
	for after := audit.Seq(0); ; {
		page, err := NewAudit(s, nil).Entries(t.Context(), after, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return facts
		}
		for _, e := range page {
			facts[e.Target]++
			after = e.Seq
		}
	}
}

func TestEachTimerFiresOnceThoughManyClaimItAndSomeDie(t *testing.T) {
	eachPair(t, func(t *testing.T, s [2]*Store, w [2]*Writer) {
		const timers, claimers = 200, 8
		now := time.Now().Truncate(time.Microsecond)
		for i := range timers {
			due := timer.Timer{Kind: testKind, Key: fmt.Sprint(i), Due: now.Add(time.Duration(i%7) * time.Second)}
			if err := NewTimers(s[0], w[0]).Arm(t.Context(), due); err != nil {
				t.Fatal(err)
			}
		}
		var taken, died atomic.Int64
		var hubs sync.WaitGroup
		for c := range claimers {
			hubs.Go(func() {
				store := NewTimers(s[c%2], w[c%2])
				for n := 0; ; {
					due, err := store.Due(t.Context(), testKind, now.Add(time.Minute), 16)
					if err != nil {
						t.Error(err)
						return
					}
					if len(due) == 0 {
						return
					}
					for _, d := range due {
						n++
						switch err := fire(t.Context(), w[c%2], d, n%5 == 0); {
						case errors.Is(err, timer.ErrTaken):
							taken.Add(1)
						case errors.Is(err, errDied):
							died.Add(1)
						case err != nil:
							t.Error(err)
							return
						}
					}
				}
			})
		}
		hubs.Wait()
		facts := fired(t, s[0])
		for i := range timers {
			if n := facts[fmt.Sprint(i)]; n != 1 {
				t.Errorf("timer %d has fired %d times", i, n)
			}
		}
		t.Logf("%d claims came too late, %d claimers died", taken.Load(), died.Load())
		if taken.Load() == 0 || died.Load() == 0 {
			t.Error("nobody competed, or nobody died: this proves nothing")
		}
	})
}

func TestATimerIsDueWhenItSaysAndIsMovedByWhoHasSeenItLast(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		ctx, m, at := t.Context(), NewTimers(s, w), time.Now().Truncate(time.Microsecond)
		first := timer.Timer{Kind: testKind, Key: "a", Due: at}
		second := timer.Timer{Kind: testKind, Key: "b", Due: at.Add(-time.Second)}
		other := timer.Timer{Kind: "other", Key: "a", Due: at}
		err := errors.Join(m.Arm(ctx, first), m.Arm(ctx, second), m.Arm(ctx, other),
			m.Arm(ctx, timer.Timer{Kind: testKind, Key: "a", Due: at.Add(-time.Hour)})) // there is one: it stays as it is
		if err != nil {
			t.Fatal(err)
		}
		due := func(now time.Time, want ...string) {
			t.Helper()
			found, err := m.Due(ctx, testKind, now, 10)
			var keys []string
			for _, d := range found {
				keys = append(keys, d.Key)
			}
			if err != nil || !slices.Equal(keys, want) {
				t.Errorf("due are %v, %v; want %v", keys, err, want)
			}
		}
		due(at.Add(-2 * time.Second))
		due(at.Add(-time.Microsecond), "b")
		due(at, "b", "a")
		if err := m.Move(ctx, first, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		due(at, "b")
		if err := errors.Join(m.Move(ctx, first, at)); !errors.Is(err, timer.ErrTaken) {
			t.Errorf("moved by who has not seen it move: %v", err)
		}
		if err := m.Drop(ctx, first); !errors.Is(err, timer.ErrTaken) {
			t.Errorf("dropped by who has not seen it move: %v", err)
		}
		if err := m.Drop(ctx, second); err != nil {
			t.Error(err)
		}
		due(at.Add(2*time.Hour), "a")
	})
}

// Of all hubs one takes each turn, and a hub that dies with its turn costs one period.
func TestATurnIsOneHubs(t *testing.T) {
	eachPair(t, func(t *testing.T, s [2]*Store, w [2]*Writer) {
		turn := func(hub int) timer.Turn {
			return timer.Turn{Store: NewTimers(s[hub], w[hub]), Kind: testKind, Every: time.Minute}
		}
		now := time.Now()
		if err := errors.Join(turn(0).Begin(t.Context(), now), turn(1).Begin(t.Context(), now.Add(time.Second))); err != nil {
			t.Fatal(err)
		}
		for minute := range 10 {
			var took atomic.Int64
			at := now.Add(time.Duration(minute)*61*time.Second + 30*time.Second)
			var hubs sync.WaitGroup
			for hub := range 8 {
				hubs.Go(func() {
					mine, err := turn(hub%2).Take(t.Context(), at)
					if err != nil {
						t.Error(err)
					}
					if mine {
						took.Add(1)
					}
				})
			}
			hubs.Wait()
			want := int64(1)
			if minute == 0 {
				want = 0 // not due yet
			}
			if took.Load() != want {
				t.Errorf("minute %d: %d hubs took the turn, want %d", minute, took.Load(), want)
			}
		}
	})
}

func (a *asker) timers() (n int) {
	a.t.Helper()
	if err := a.store.readDB.QueryRowContext(a.t.Context(), `SELECT COUNT(*) FROM timers`).Scan(&n); err != nil {
		a.t.Fatal(err)
	}
	return n
}

func TestAQuestionHasATimerForAsLongAsItWaits(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		step := func(what string, want int) {
			t.Helper()
			if n := a.timers(); n != want {
				t.Errorf("%s: %d timers, want %d", what, n, want)
			}
		}
		step("nothing was asked", 0)
		a.ask(event.Person, `{}`)
		answered := a.inquire(event.PromptQuestion, anything, 0)
		a.inquire(event.PromptQuestion, anything, time.Minute)
		a.inquire(event.PromptQuestion, anything, 0)
		step("asked", 4)
		a.must(answered, event.Deny)
		step("answered", 3)
		a.sweep(2 * time.Minute)
		step("expired", 2)
		do(t, a.writer, nil, func(ctx context.Context, tx *Tx) error { // as an older hub asks
			_, err := tx.Exec(ctx, `DELETE FROM timers`)
			return err
		})
		if err := errors.Join(a.prompts.Store.ArmAll(t.Context()), a.prompts.Store.ArmAll(t.Context())); err != nil {
			t.Fatal(err)
		}
		step("armed", 2)
		a.j.write(t, a.n.ID, wireFinished, event.RunCompletedPayload{})
		a.j.flush(t, a.record)
		step("the run is over", 0)
	})
}

// A setting that is changed holds for questions that were asked before, too.
func TestATimerIsSetByTheSettingsOfItsDay(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.inquire(event.PromptQuestion, anything, 0)
		a.sweep(time.Second) // sets it, by a limit of fifteen days
		short := a.expiry()
		short.TTL = time.Hour
		for _, after := range []time.Duration{30 * time.Minute, lookedAtAgain} {
			if err := short.Sweep(t.Context(), time.Now().Add(after)); err != nil {
				t.Fatal(err)
			}
		}
		if a.timers() != 0 {
			t.Errorf("questions are %v", a.states())
		}
	})
}

// lookedAtAgain is when each timer was looked at once more.
const lookedAtAgain = time.Hour + time.Minute
