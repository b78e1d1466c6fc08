package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
)

// OutboxTrim implements retention.Rows for what devices are told.
type OutboxTrim struct{ writer *Writer }

// NoticeTrim implements retention.Rows for notifications that were read. The time that counts is that of the reading.
type NoticeTrim struct{ writer *Writer }

var (
	_ retention.Rows = OutboxTrim{}
	_ retention.Rows = NoticeTrim{}
)

// NewOutboxTrim trims through w.
func NewOutboxTrim(w *Writer) OutboxTrim { return OutboxTrim{w} }

// NewNoticeTrim trims through w.
func NewNoticeTrim(w *Writer) NoticeTrim { return NoticeTrim{w} }

// Trim implements retention.Rows.
func (n NoticeTrim) Trim(ctx context.Context, before time.Time, limit int) (removed int, held time.Duration, err error) {
	err = n.writer.Do(ctx, []Lock{LockAccount("retention:notifications")}, func(ctx context.Context, tx *Tx) error {
		began := time.Now()
		defer func() { held = time.Since(began) }()
		const old = `
DELETE FROM notifications WHERE id IN (
    SELECT id FROM notifications WHERE read_at <> 0 AND read_at < $1 ORDER BY read_at LIMIT $2) AND read_at <> 0`
		count, err := tx.Exec(ctx, old, micros(before), limit)
		removed = int(count)
		return err
	})
	return removed, held, err
}

// Trim implements retention.Rows. The times of rows are those of several hubs and not quite in order: it stops before the first
// row that is young enough, so that what is left has no hole, and before what the index of the search has not read.
func (r OutboxTrim) Trim(ctx context.Context, before time.Time, limit int) (removed int, held time.Duration, err error) {
	err = r.writer.Do(ctx, []Lock{LockAccount("retention:outbox")}, func(ctx context.Context, tx *Tx) error {
		began := time.Now()
		defer func() { held = time.Since(began) }()
		const find = `
SELECT COALESCE(MIN(CASE WHEN created_at >= $1 THEN pos END) - 1, MAX(pos))
FROM (SELECT pos, created_at FROM outbox
       WHERE pos <= COALESCE((SELECT place FROM search_progress WHERE id = 1), pos) ORDER BY pos LIMIT $2) oldest`
		var last sql.NullInt64
		if err := tx.QueryRow(ctx, find, micros(before), limit).Scan(&last); err != nil {
			return fmt.Errorf("find rows: %w", err)
		}
		n, err := tx.Exec(ctx, `DELETE FROM outbox WHERE pos <= $1`, last.Int64)
		removed = int(n)
		return err
	})
	return removed, held, err
}
