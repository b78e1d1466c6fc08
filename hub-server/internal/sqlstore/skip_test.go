package sqlstore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testpg"
)

// The figures of promise P7.
const (
	skipWriters = 16
	skipHubs    = 8  // on PostgreSQL, where a store may have several
	skipEach    = 60 // transactions of a writer, if nobody asks for a time
	skipRows    = 8  // of a transaction at most: each is a statement between the taking of positions and the commit
)

// Promise P7: a reader of "position > last" skips nothing and is held up by nothing, although 16 writers, on eight hubs where the store may
// have several, take their time between their statements, and between the taking of positions and the commit, and a transaction is stuck.
func TestATailReaderSkipsNothing(t *testing.T) {
	chance := chanceOf(t)
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		writers := []*Writer{w}
		for s.dialect.advisory && len(writers) < skipHubs {
			writers = append(writers, startWriter(t, s))
		}
		getStuck(t, s)
		var wg sync.WaitGroup
		var rows atomic.Int64
		for i := range skipWriters {
			random, writing := chance.part(i), spanOf(skipEach)
			each := 1 + random.IntN(skipRows)
			wg.Go(func() {
				writing.each(func() bool {
					slowly := someTime(random)
					err := writers[i%len(writers)].Do(t.Context(), nil, func(ctx context.Context, tx *Tx) error { return emitSlowly(ctx, tx, each, slowly) })
					if err != nil {
						t.Errorf("write: %v", err)
						return false
					}
					rows.Add(int64(each))
					return true
				})
			})
		}
		written := make(chan int, 1)
		var ending sync.WaitGroup
		ending.Go(func() { wg.Wait(); written <- int(rows.Load()) })
		ctx := readersContext(t)
		last, err := follow(written, func(after int) ([]int, error) {
			rows, err := s.Rows(ctx, delivery.Position(after), 1000)
			var positions []int
			for _, row := range rows {
				positions = append(positions, int(row.Position))
			}
			return positions, err
		})
		ending.Wait()
		if err != nil || last != int(rows.Load()) {
			t.Errorf("reached %d of %d: %v", last, rows.Load(), err)
		}
		t.Logf("figure: P7: %d rows of %d writers (SEED=%d)", last, skipWriters, chance.seed)
	})
}

// getStuck begins a transaction that stays open until the end of the test: one that has written, where the store lets others write meanwhile.
// Everything that goes by the oldest open transaction waits for it.
func getStuck(t *testing.T, s *Store) {
	t.Helper()
	db, statement := s.readDB, `SELECT count(*) FROM outbox`
	if s.dialect.advisory {
		db, statement = s.writeDB, `CREATE TABLE stuck (n INT)`
	}
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tx.Rollback(); err != nil {
			t.Errorf("end what is stuck: %v", err)
		}
	})
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func emitSlowly(ctx context.Context, tx *Tx, rows int, slowly time.Duration) error {
	for range rows {
		if err := emit("typing")(ctx, tx); err != nil {
			return err
		}
	}
	pause(ctx, slowly)
	return nil
}

// someTime is how long a writer pauses.
func someTime(random *rand.Rand) time.Duration {
	return time.Duration(random.IntN(500)) * time.Microsecond
}

func pause(ctx context.Context, some time.Duration) {
	select {
	case <-time.After(some):
	case <-ctx.Done():
	}
}

// follow reads "position > last" until it has seen as many rows as were written, which it is told at the end, and fails at the first hole.
func follow(written <-chan int, read func(after int) ([]int, error)) (last int, err error) {
	for want := math.MaxInt; last < want; {
		select {
		case want = <-written:
		default:
		}
		positions, err := read(last)
		if err != nil {
			return last, err
		}
		for _, p := range positions {
			if p != last+1 {
				return last, fmt.Errorf("position %d came after %d", p, last)
			}
			last = p
		}
	}
	return last, nil
}

// The positive control of the test above: the same number of writers with the same delays, whose positions are taken when a row is written
// and not by the last statement before the commit. The naive reader is seen to skip rows.
func TestATailReaderWouldSkipPositionsTakenEarly(t *testing.T) {
	s := openAt(t, testpg.Start(t))
	if _, err := s.writeDB.ExecContext(t.Context(), `CREATE TABLE early (pos BIGSERIAL PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	chance := chanceOf(t)
	for i := range skipWriters {
		random := chance.part(i)
		writing.Go(func() {
			for range skipEach {
				if err := writeEarly(t.Context(), s, someTime(random)); err != nil {
					t.Errorf("write: %v", err)
					return
				}
			}
		})
	}
	written := make(chan struct{})
	var ending sync.WaitGroup
	ending.Go(func() { writing.Wait(); close(written) })
	seen := readNaively(t, s, written)
	ending.Wait()
	t.Logf("figure: P7, positive control: the naive reader skipped %d of %d rows (SEED=%d)", skipWriters*skipEach-seen, skipWriters*skipEach, chance.seed)
	if seen >= skipWriters*skipEach {
		t.Error("the naive reader saw every row: the test of this promise proves nothing")
	}
}

// writeEarly takes a position and commits a moment later.
func writeEarly(ctx context.Context, s *Store, slowly time.Duration) error {
	tx, err := s.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // fails after the commit below, and that is fine
	if _, err := tx.ExecContext(ctx, `INSERT INTO early DEFAULT VALUES`); err != nil {
		return err
	}
	pause(ctx, slowly)
	return tx.Commit()
}

// readNaively reads "position > last" until everything is written and nothing more comes, and returns how many rows it saw.
func readNaively(t *testing.T, s *Store, written <-chan struct{}) (seen int) {
	t.Helper()
	for last, over := 0, false; ; {
		select {
		case <-written:
			over = true
		default:
		}
		var count, highest int
		err := s.readDB.QueryRowContext(t.Context(), `SELECT count(*), coalesce(max(pos), 0) FROM early WHERE pos > $1`, last).Scan(&count, &highest)
		if err != nil {
			t.Fatal(err)
		}
		seen, last = seen+count, max(last, highest)
		if over && count == 0 {
			return seen
		}
	}
}
