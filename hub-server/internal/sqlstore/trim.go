package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
)

// Trim implements retention.Outbox.
type Trim struct{ writer *Writer }

var _ retention.Outbox = Trim{}

// NewTrim trims through w.
func NewTrim(w *Writer) Trim { return Trim{w} }

// TrimOutbox implements retention.Outbox. The times of rows are those of several hubs and not quite in order: it stops before the first
// row that is young enough, so that what is left has no hole.
func (r Trim) TrimOutbox(ctx context.Context, before time.Time, limit int) (removed int, held time.Duration, err error) {
	err = r.writer.Do(ctx, []Lock{LockAccount("retention:outbox")}, func(ctx context.Context, tx *Tx) error {
		began := time.Now()
		defer func() { held = time.Since(began) }()
		const find = `
SELECT COALESCE(MIN(CASE WHEN created_at >= $1 THEN pos END) - 1, MAX(pos))
FROM (SELECT pos, created_at FROM outbox ORDER BY pos LIMIT $2) oldest`
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
