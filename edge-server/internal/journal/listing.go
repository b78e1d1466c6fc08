package journal

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Listing is a run as a list shows it.
type Listing struct {
	Run
	Admitted    time.Time
	EndedAt     time.Time        // zero while it has no terminal
	First, Last wire.ProducerSeq // of its rows that are kept; 0 when none is
}

// List returns the runs that were admitted here, the newest first: at most limit, and only those admitted before the run before if that is
// not empty. Runs that ended long ago are forgotten with their last row.
func (j *Journal) List(ctx context.Context, before id.Run, limit int) (found []Listing, more bool, err error) {
	const statement = `SELECT ` + runFields + `, c.at, r.ended_at,
			coalesce((SELECT min(seq) FROM rows WHERE rows.run = r.run), 0), coalesce((SELECT max(seq) FROM rows WHERE rows.run = r.run), 0)
		` + runTables + ` WHERE ?1 = '' OR r.place < (SELECT place FROM runs WHERE run = ?1) ORDER BY r.place DESC LIMIT ?2`
	found, err = query(ctx, j.db.readDB, scanListing, statement, string(before), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list runs: %w", err)
	}
	if more = len(found) > limit; more {
		found = found[:limit]
	}
	return found, more, nil
}

func scanListing(scan func(...any) error) (l Listing, err error) {
	var admitted int64
	var ended sql.NullInt64
	l.Run, err = scanRun(func(run ...any) error { return scan(append(run, &admitted, &ended, &l.First, &l.Last)...) })
	l.Admitted = time.UnixMicro(admitted).UTC()
	if ended.Valid {
		l.EndedAt = time.UnixMicro(ended.Int64).UTC()
	}
	return l, err
}
