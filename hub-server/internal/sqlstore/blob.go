package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// HasBlob implements runlog.BlobStore.
func (r *Runlog) HasBlob(ctx context.Context, edge id.Edge, hash runlog.BlobHash) (bool, error) {
	const query = `SELECT 1 FROM edge_blobs WHERE edge_id = $1 AND sha256 = $2`
	return hasRow(r.store.readDB.QueryRowContext(ctx, query, string(edge), string(hash)))
}

// BeginUpload implements runlog.BlobStore.
func (r *Runlog) BeginUpload(ctx context.Context) (runlog.Upload, error) {
	key := randomKey()
	err := r.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_uploads (upload_id, started_at) VALUES ($1, $2)`, key, micros(tx.now))
		return err
	})
	return runlog.Upload(key), err
}

// AddPart implements runlog.BlobStore.
func (r *Runlog) AddPart(ctx context.Context, upload runlog.Upload, part int, data []byte) error {
	return r.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_chunks (upload_id, part, data) VALUES ($1, $2, $3)`, int64(upload), part, data)
		return err
	})
}

// FinishUpload implements runlog.BlobStore.
func (r *Runlog) FinishUpload(ctx context.Context, edge id.Edge, upload runlog.Upload, hash runlog.BlobHash, size int64) error {
	return r.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const insert = `INSERT INTO blobs (sha256, upload_id, size, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (sha256) DO NOTHING`
		first, err := tx.Exec(ctx, insert, string(hash), int64(upload), size, micros(tx.now))
		if err != nil {
			return fmt.Errorf("insert blob: %w", err)
		}
		if first == 0 {
			if err := tx.dropParts(ctx, int64(upload)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `DELETE FROM blob_uploads WHERE upload_id = $1`, int64(upload)); err != nil {
			return fmt.Errorf("end upload: %w", err)
		}
		const hold = `INSERT INTO edge_blobs (edge_id, sha256) VALUES ($1, $2) ON CONFLICT (edge_id, sha256) DO NOTHING`
		if _, err := tx.Exec(ctx, hold, string(edge), string(hash)); err != nil {
			return fmt.Errorf("note holder: %w", err)
		}
		return nil
	})
}

func (t *Tx) dropParts(ctx context.Context, upload int64) error {
	if _, err := t.Exec(ctx, `DELETE FROM blob_chunks WHERE upload_id = $1`, upload); err != nil {
		return fmt.Errorf("drop parts: %w", err)
	}
	return nil
}

// OpenBlob implements runlog.BlobStore.
func (r *Runlog) OpenBlob(ctx context.Context, hash runlog.BlobHash) (int64, func(context.Context, int) ([]byte, error), error) {
	var upload, size int64
	err := r.store.readDB.QueryRowContext(ctx, `SELECT upload_id, size FROM blobs WHERE sha256 = $1`, string(hash)).Scan(&upload, &size)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, fault.New(fault.NotFound, "There are no such bytes.")
	}
	if err != nil {
		return 0, nil, fmt.Errorf("find blob: %w", err)
	}
	part := func(ctx context.Context, n int) ([]byte, error) { return r.Part(ctx, runlog.Upload(upload), n) } //nolint:gosec // it was one
	return size, part, nil
}

// Part implements runlog.BlobStore.
func (r *Runlog) Part(ctx context.Context, upload runlog.Upload, n int) (data []byte, err error) {
	const query = `SELECT data FROM blob_chunks WHERE upload_id = $1 AND part = $2`
	err = r.store.readDB.QueryRowContext(ctx, query, int64(upload), n).Scan(&data) //nolint:gosec // as it was stored
	return data, err
}

// DropUpload implements runlog.BlobStore.
func (r *Runlog) DropUpload(ctx context.Context, upload runlog.Upload) error {
	return r.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		open, err := tx.Exec(ctx, `DELETE FROM blob_uploads WHERE upload_id = $1`, int64(upload)) //nolint:gosec // as it was stored
		if err != nil || open == 0 {
			return err
		}
		return tx.dropParts(ctx, int64(upload)) //nolint:gosec // as it was stored
	})
}

// SweepUploads implements runlog.BlobStore. It drops one upload per transaction, so that no commit waits long for it.
func (r *Runlog) SweepUploads(ctx context.Context, before time.Time) error {
	const oldest = `SELECT upload_id FROM blob_uploads WHERE started_at < $1 ORDER BY started_at LIMIT 1`
	for {
		var upload int64
		err := r.store.readDB.QueryRowContext(ctx, oldest, micros(before)).Scan(&upload)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for dead uploads: %w", err)
		}
		if err := r.DropUpload(ctx, runlog.Upload(upload)); err != nil { //nolint:gosec // as it was stored
			return fmt.Errorf("sweep upload: %w", err)
		}
	}
}
