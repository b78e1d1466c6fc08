package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
)

// Timers keeps what is due: timer.Store.
type Timers struct {
	store  *Store
	writer *Writer
}

var _ timer.Store = Timers{}

// NewTimers reads from s and writes through w.
func NewTimers(s *Store, w *Writer) Timers { return Timers{store: s, writer: w} }

// Arm implements timer.Store.
func (m Timers) Arm(ctx context.Context, due timer.Timer) error {
	return m.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error { return tx.armTimer(ctx, due) })
}

// Due implements timer.Store.
func (m Timers) Due(ctx context.Context, kind timer.Kind, now time.Time, limit int) ([]timer.Timer, error) {
	const query = `SELECT kind, key, due FROM timers WHERE kind = $1 AND due <= $2 ORDER BY due, key LIMIT $3`
	rows, err := m.store.readDB.QueryContext(ctx, query, string(kind), micros(now), limit)
	found, err := collect(rows, err, func(row Scanner) (t timer.Timer, err error) {
		var due int64
		err = row.Scan(&t.Kind, &t.Key, &due)
		t.Due = fromMicros(due)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("look for timers: %w", err)
	}
	return found, nil
}

// Move implements timer.Store.
func (m Timers) Move(ctx context.Context, t timer.Timer, due time.Time) error {
	return m.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error { return tx.moveTimer(ctx, t, due) })
}

// moveTimer takes a timer as claimTimer does, and leaves it to be due again. timer.ErrTaken.
func (t *Tx) moveTimer(ctx context.Context, due timer.Timer, next time.Time) error {
	const move = `UPDATE timers SET due = $4 WHERE kind = $1 AND key = $2 AND due = $3`
	return t.conditional(ctx, move, string(due.Kind), due.Key, micros(due.Due), micros(next))
}

// Drop implements timer.Store.
func (m Timers) Drop(ctx context.Context, t timer.Timer) error {
	return m.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error { return tx.claimTimer(ctx, t) })
}

// claimTimer takes a timer in the transaction that stores what it fires: neither is there without the other. timer.ErrTaken.
func (t *Tx) claimTimer(ctx context.Context, due timer.Timer) error {
	const claim = `DELETE FROM timers WHERE kind = $1 AND key = $2 AND due = $3`
	return t.conditional(ctx, claim, string(due.Kind), due.Key, micros(due.Due))
}

// conditional runs a statement that changes one timer, or none.
func (t *Tx) conditional(ctx context.Context, statement string, args ...any) error {
	n, err := t.Exec(ctx, statement, args...)
	if err == nil && n == 0 {
		err = timer.ErrTaken
	}
	return err
}

func (t *Tx) armTimer(ctx context.Context, due timer.Timer) error {
	const arm = `INSERT INTO timers (kind, key, due) VALUES ($1, $2, $3) ON CONFLICT (kind, key) DO NOTHING`
	_, err := t.Exec(ctx, arm, string(due.Kind), due.Key, micros(due.Due))
	return err
}

// dropTimer removes a timer whenever it is due: what it is about is over.
func (t *Tx) dropTimer(ctx context.Context, kind timer.Kind, key string) error {
	_, err := t.Exec(ctx, `DELETE FROM timers WHERE kind = $1 AND key = $2`, string(kind), key)
	return err
}
