package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Archived is an archive as the store knows it.
type Archived struct {
	Run      id.Run
	From, To runlog.EventSeq
	File     string
	archive.Summary
	At time.Time
}

// Archived lists the archives of a run, or of all runs for "", in the order of runs and of their logs.
func (s *Store) Archived(ctx context.Context, run id.Run) ([]Archived, error) {
	const query = `
SELECT run_id, from_seq, to_seq, file, events, payload_bytes, sha256, archived_at FROM archives
WHERE state <> 'writing' AND (run_id = $1 OR $1 = '') ORDER BY run_id, from_seq`
	rows, err := s.readDB.QueryContext(ctx, query, string(run))
	found, err := collect(rows, err, func(row Scanner) (a Archived, err error) {
		var at int64
		err = row.Scan(&a.Run, &a.From, &a.To, &a.File, &a.Events, &a.Payload, &a.SHA256, &at)
		a.At = fromMicros(at)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("list archives: %w", err)
	}
	return found, nil
}
