package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const maxBatchRows = 1024

// The statements of Read and ChainAt.
const (
	readRows = `SELECT bytes, EXISTS (SELECT 1 FROM row_blobs n JOIN blobs b ON b.sha256 = n.sha256
			WHERE n.seq = rows.seq AND b.uploaded = 0)
		FROM rows WHERE seq >= ? ORDER BY seq LIMIT ?`
	readChain = `SELECT chain FROM rows WHERE seq = ? UNION ALL SELECT floor_chain FROM lane WHERE floor = ?`
)

// Read returns rows from number from on, at most maxBytes of them unless the first alone is larger. It stops before a row whose blobs the
// hub does not have and names them.
func (j *Journal) Read(ctx context.Context, from wire.ProducerSeq, maxBytes int64) (lane.Batch, error) {
	batch := lane.Batch{First: from}
	rows, err := j.db.readRows.QueryContext(ctx, int64(from), maxBatchRows)
	if err != nil {
		return batch, fmt.Errorf("read journal: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	for rows.Next() {
		var row []byte
		var waits bool
		if err := rows.Scan(&row, &waits); err != nil {
			return batch, fmt.Errorf("read journal: %w", err)
		}
		if waits {
			batch.Missing, err = j.missing(ctx, from+wire.ProducerSeq(len(batch.Rows)))
			return batch, err
		}
		if len(batch.Rows) > 0 && batch.Bytes+int64(len(row)) > maxBytes {
			return batch, nil
		}
		batch.Rows = append(batch.Rows, row)
		batch.Bytes += int64(len(row))
	}
	if err := rows.Err(); err != nil {
		return batch, fmt.Errorf("read journal: %w", err)
	}
	return batch, nil
}

// missing lists the blobs of one row that the hub does not have.
func (j *Journal) missing(ctx context.Context, seq wire.ProducerSeq) ([]event.BlobRef, error) {
	const statement = `SELECT b.sha256, b.size FROM row_blobs n JOIN blobs b ON b.sha256 = n.sha256 WHERE n.seq = ? AND b.uploaded = 0`
	return query(ctx, j.db.readDB, func(scan func(...any) error) (ref event.BlobRef, err error) {
		err = scan(&ref.SHA256, &ref.Size)
		return ref, err
	}, statement, int64(seq))
}

// ChainAt returns the chain value after row seq; false if the journal no longer keeps, or does not yet have, that row.
func (j *Journal) ChainAt(ctx context.Context, seq wire.ProducerSeq) (wire.Chain, bool, error) {
	var raw []byte
	err := j.db.readChain.QueryRowContext(ctx, int64(seq), int64(seq)+1).Scan(&raw)
	var chain wire.Chain
	if errors.Is(err, sql.ErrNoRows) {
		return chain, false, nil
	}
	if err == nil {
		err = setChain(&chain, raw)
	}
	if err != nil {
		return chain, false, fmt.Errorf("read chain value %d: %w", seq, err)
	}
	return chain, true, nil
}

// Events returns all events of a run in order, those from before a new incarnation too. Of a live run none is ever trimmed.
func (j *Journal) Events(ctx context.Context, r id.Run) ([]event.Envelope, error) {
	const statement = `SELECT bytes FROM (
			SELECT 0 AS era, n AS place, bytes FROM past_rows WHERE run = ?
			UNION ALL SELECT 1, seq, bytes FROM rows WHERE run = ?) ORDER BY era, place`
	events, err := query(ctx, j.db.readDB, func(scan func(...any) error) (event.Envelope, error) {
		var row []byte
		if err := scan(&row); err != nil {
			return event.Envelope{}, err
		}
		return event.ParseRow(row)
	}, statement, string(r), string(r))
	if err != nil {
		return nil, fmt.Errorf("read events of %s: %w", r, err)
	}
	return events, nil
}

// query collects what read makes of each row of a result.
func query[T any](ctx context.Context, db querier, read func(scan func(...any) error) (T, error), statement string, args ...any) (
	found []T, err error,
) {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		item, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, item)
	}
	return found, rows.Err()
}

// scanText reads a result of one text column.
func scanText(scan func(...any) error) (text string, err error) {
	err = scan(&text)
	return text, err
}

type querier interface {
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}
