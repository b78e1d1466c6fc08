package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	maintainEvery = time.Second
	trimSlice     = 256                // rows in one transaction, so that no append waits long
	forgetAfter   = 7 * 24 * time.Hour // how long the commands of an ended run are known after its last row went
	shareOfCap    = 50                 // percent of the cap that committed rows of ended runs may hold within the window
)

// Maintain works beside the writer until ctx ends: it writes receipts that no group carried, trims in small slices, moves the write-ahead
// log into the file, and fills the reserve again once there is space. A failure is logged and tried again.
func (j *Journal) Maintain(ctx context.Context) error {
	tick := time.NewTicker(maintainEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := j.maintain(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, ErrStopped) {
			j.metrics.failures.Inc()
			j.opts.Log.Error("journal maintenance failed", "error", err)
		}
	}
}

func (j *Journal) maintain(ctx context.Context) error {
	if err := j.flushReceipt(ctx); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = j.trim(ctx); err != nil {
			return fmt.Errorf("trim: %w", err)
		}
	}
	if err := j.forgetCommands(ctx); err != nil {
		return fmt.Errorf("forget commands: %w", err)
	}
	if err := j.checkpoint(ctx); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return j.refillReserve()
}

func (j *Journal) flushReceipt(ctx context.Context) error {
	j.mu.Lock()
	waiting := j.receipt != nil
	j.mu.Unlock()
	if !waiting {
		return nil
	}
	return j.record(ctx, func(*transaction) error { return nil })
}

// checkpoint does what it can without waiting for anybody.
func (j *Journal) checkpoint(ctx context.Context) error {
	var busy, frames, moved int
	return j.db.readDB.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &frames, &moved)
}

// refillReserve takes new work again once the disk has space for the reserve.
func (j *Journal) refillReserve() error {
	j.mu.Lock()
	spent := j.spent
	j.mu.Unlock()
	if !spent {
		return nil
	}
	if err := j.reserve.fill(); err != nil {
		return nil //nolint:nilerr // the disk is still full: the next round tries again
	}
	j.mu.Lock()
	j.spent = false
	j.makeRoom()
	j.mu.Unlock()
	j.opts.Log.Info("the journal has its reserve back and takes new work")
	return nil
}

// trim removes one slice from the front of the log: rows that are committed, whose run has ended, and that are older than the window or in
// excess of the share of the cap. It says whether there may be more.
func (j *Journal) trim(ctx context.Context) (more bool, err error) {
	last, err := j.trimmable(ctx)
	if err != nil || last == 0 {
		return false, err
	}
	var orphans []string
	err = j.record(ctx, func(tx *transaction) error {
		orphans, err = tx.trim(last)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, sum := range orphans {
		err = errors.Join(err, j.blobs.remove(sum))
	}
	return true, err
}

// trimmable returns the last row of the next slice, 0 if nothing may go.
func (j *Journal) trimmable(ctx context.Context) (wire.ProducerSeq, error) {
	s := j.State()
	over := s.Used > s.Cap*shareOfCap/100
	oldest := j.opts.Now().Add(-j.opts.Window).UnixMicro()
	const statement = `SELECT coalesce(max(seq), 0) FROM (
			SELECT seq, sum(CASE WHEN seq <= ?1 AND (?2 OR at < ?3) AND (u.run IS NULL OR u.ended_at IS NOT NULL) THEN 0 ELSE 1 END)
				OVER (ORDER BY seq) AS kept
			FROM (SELECT seq, run, at FROM rows ORDER BY seq LIMIT ?4) r LEFT JOIN runs u ON u.run = r.run)
		WHERE kept = 0`
	var last int64
	err := j.db.readDB.QueryRowContext(ctx, statement, int64(s.Committed()), over, oldest, trimSlice).Scan(&last)
	return wire.ProducerSeq(last), err
}

// trim removes the rows up to last and returns the blobs that no row names any more.
func (t *transaction) trim(last wire.ProducerSeq) (orphans []string, err error) {
	if last < t.state.Floor || last > t.tail.head {
		return nil, nil // a new incarnation came in between
	}
	to := int64(last)
	var freed int64
	const measure = `SELECT sum(length(bytes) + ?) FROM rows WHERE seq <= ?`
	if err := t.sql.QueryRowContext(t.ctx, measure, rowOverhead, to).Scan(&freed); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	const floor = `UPDATE lane SET floor = ?1 + 1, floor_chain = (SELECT chain FROM rows WHERE seq = ?1) WHERE id = 1`
	for _, statement := range []string{floor, `DELETE FROM rows WHERE seq <= ?1`, `DELETE FROM row_blobs WHERE seq <= ?1`} {
		if err := t.exec(statement, to); err != nil {
			return nil, err
		}
	}
	orphans, unnamed, err := t.dropOrphans()
	t.state.Floor = last + 1
	t.state.Used -= freed + unnamed
	return orphans, err
}

// dropOrphans forgets blobs that no row names and returns their names and sizes.
func (t *transaction) dropOrphans() (sums []string, bytes int64, err error) {
	const statement = `DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM row_blobs n WHERE n.sha256 = blobs.sha256) RETURNING sha256, size`
	sums, err = query(t.ctx, t.sql, func(scan func(...any) error) (sum string, err error) {
		var size int64
		err = scan(&sum, &size)
		bytes += size
		return sum, err
	}, statement)
	return sums, bytes, err
}

// forgetCommands drops the admission records of runs that ended long ago and have no rows left, and the past rows of ended ones.
func (j *Journal) forgetCommands(ctx context.Context) error {
	before := j.opts.Now().Add(-forgetAfter).UnixMicro()
	const find = `SELECT run FROM runs WHERE ended_at < ? AND NOT EXISTS (SELECT 1 FROM rows WHERE rows.run = runs.run) LIMIT ?`
	old, err := query(ctx, j.db.readDB, scanText, find, before, trimSlice)
	if err != nil || len(old) == 0 {
		return err
	}
	return j.record(ctx, func(tx *transaction) error {
		for _, r := range old {
			for _, table := range []string{"commands", "past_rows", "runs"} {
				if err := tx.exec(`DELETE FROM `+table+` WHERE run = ?`, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
