package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Extent is which rows there are on disk.
type Extent struct {
	Incarnation wire.Incarnation
	Floor       wire.ProducerSeq // lowest row kept; Head+1 when none is
	Head        wire.ProducerSeq
}

// Page is consecutive rows as a program of this machine reads them. Unlike a batch for the hub it does not wait for blobs.
type Page struct {
	Incarnation wire.Incarnation
	// First is the number of the first row, or of the next one to come if there is none. It is greater than what was asked for if the rows
	// in between were trimmed.
	First wire.ProducerSeq
	Rows  [][]byte
}

// RunPage is rows of one run, in order.
type RunPage struct {
	Extent
	Rows [][]byte
	More bool // there are rows behind the last one
}

// maxPageBytes is how much of a page a program keeps in memory; the first row comes always.
const maxPageBytes = 1 << 20

// Extent reads which rows there are. A row is on disk a moment before State counts it, so numbers that a reader has seen are compared with
// this.
func (j *Journal) Extent(ctx context.Context) (e Extent, err error) {
	const statement = `SELECT incarnation, floor, (SELECT coalesce(max(seq), lane.floor - 1) FROM rows) FROM lane`
	if err := j.db.readDB.QueryRowContext(ctx, statement).Scan(&e.Incarnation, &e.Floor, &e.Head); err != nil {
		return e, fmt.Errorf("read extent of the journal: %w", err)
	}
	return e, nil
}

// ReadPage returns at most limit rows from number from on. If there are none it may miss rows that are being committed: who took Appended
// before hears of them.
func (j *Journal) ReadPage(ctx context.Context, from wire.ProducerSeq, limit int) (page Page, err error) {
	const statement = `SELECT (SELECT incarnation FROM lane), seq, bytes FROM rows WHERE seq >= ? ORDER BY seq LIMIT ?`
	rows, err := j.db.readDB.QueryContext(ctx, statement, int64(from), limit)
	if err != nil {
		return page, fmt.Errorf("read page of the journal: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for bytes := 0; bytes < maxPageBytes && rows.Next(); {
		var seq wire.ProducerSeq
		var row []byte
		if err := rows.Scan(&page.Incarnation, &seq, &row); err != nil {
			return page, fmt.Errorf("read page of the journal: %w", err)
		}
		if len(page.Rows) == 0 {
			page.First = seq
		}
		page.Rows = append(page.Rows, row)
		bytes += len(row)
	}
	if err := rows.Err(); err != nil || len(page.Rows) > 0 {
		return page, err
	}
	e, err := j.Extent(ctx)
	return Page{Incarnation: e.Incarnation, First: max(from, e.Floor)}, err
}

// ReadRun returns at most limit rows of a run behind number after. Rows from before a new incarnation are not among them: their numbers mean
// something else now.
func (j *Journal) ReadRun(ctx context.Context, r id.Run, after wire.ProducerSeq, limit int) (page RunPage, err error) {
	if page.Extent, err = j.Extent(ctx); err != nil {
		return page, err
	}
	const statement = `SELECT bytes FROM rows WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?`
	rows, err := j.db.readDB.QueryContext(ctx, statement, string(r), int64(after), limit+1)
	if err != nil {
		return page, fmt.Errorf("read rows of %s: %w", r, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for bytes := 0; rows.Next(); {
		var row []byte
		if err := rows.Scan(&row); err != nil {
			return page, fmt.Errorf("read rows of %s: %w", r, err)
		}
		if page.More = len(page.Rows) == limit || bytes >= maxPageBytes; page.More {
			break
		}
		page.Rows = append(page.Rows, row)
		bytes += len(row)
	}
	return page, rows.Err()
}
