package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/shared/durable"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"golang.org/x/sys/unix"
)

const (
	blobFolder  = "blobs"
	partPattern = "part-*"
	// MaxBlob bounds one blob, in bytes.
	MaxBlob = 64 << 20
)

// blobStore is the folder of values too large for a row, each in a file named by its hash. A file is there, synced, before a row names it,
// and goes when the last such row is trimmed. A file that nobody names, left by a crash, goes at the next start.
type blobStore struct {
	folder string
	create func(folder, pattern string) (*os.File, error)

	mu    sync.Mutex
	fresh map[string]int // stored by a put and not yet named by its row: not to be removed
}

func openBlobs(ctx context.Context, home string, db querier) (*blobStore, error) {
	b := &blobStore{folder: filepath.Join(home, blobFolder), create: os.CreateTemp, fresh: map[string]int{}}
	if err := durable.MakeFolder(b.folder); err != nil {
		return nil, err
	}
	known, err := query(ctx, db, scanText, `SELECT sha256 FROM blobs`)
	if err != nil {
		return nil, err
	}
	keep := make(map[string]bool, len(known))
	for _, sum := range known {
		keep[sum] = true
	}
	files, err := os.ReadDir(b.folder)
	for _, f := range files {
		if !keep[f.Name()] {
			err = errors.Join(err, b.remove(f.Name()))
		}
	}
	return b, err
}

// PutBlob stores what r yields and returns its name. It is on disk when PutBlob returns, but kept over a restart only if a row names it. More
// than MaxBlob bytes are a too_large fault.
func (j *Journal) PutBlob(r io.Reader) (event.BlobRef, error) { return j.blobs.put(r) }

// OpenBlob opens a stored blob; the error is fs.ErrNotExist if it is gone.
func (j *Journal) OpenBlob(ref event.BlobRef) (*os.File, error) {
	return os.Open(filepath.Join(j.blobs.folder, filepath.Base(ref.SHA256)))
}

// keep stores a value of an event. On a full disk it spends the reserve, then waits for space until ctx ends, as the event's row would.
func (j *Journal) keep(ctx context.Context, value []byte) (event.BlobRef, error) {
	for {
		ref, err := j.blobs.put(bytes.NewReader(value))
		if !errors.Is(err, unix.ENOSPC) {
			return ref, err
		}
		if j.spendReserve() {
			continue
		}
		select {
		case <-time.After(maxPause):
		case <-ctx.Done():
			return ref, errors.Join(ErrFull, err, context.Cause(ctx))
		case <-j.stopped:
			return ref, errors.Join(ErrStopped, err)
		}
	}
}

func (b *blobStore) put(r io.Reader) (ref event.BlobRef, err error) {
	part, err := b.create(b.folder, partPattern) // mode 0600
	if err != nil {
		return ref, fmt.Errorf("store blob: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	ref, err = fill(part, r)
	if err = errors.Join(err, part.Close()); err != nil {
		return ref, fmt.Errorf("store blob: %w", err)
	}
	if err := b.adopt(part.Name(), ref.SHA256); err != nil {
		return ref, fmt.Errorf("store blob: %w", err)
	}
	return ref, durable.SyncFolder(b.folder)
}

// adopt gives a file its final name and protects it until a row names it.
func (b *blobStore) adopt(path, sum string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := os.Rename(path, filepath.Join(b.folder, sum)); err != nil {
		return err
	}
	b.fresh[sum]++
	return nil
}

// settle ends the protection of one put: a committed row names its blob.
func (b *blobStore) settle(sum string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh[sum]--; b.fresh[sum] <= 0 {
		delete(b.fresh, sum)
	}
}

// fill copies r to part, hashing it, and syncs.
func fill(part *os.File, r io.Reader) (event.BlobRef, error) {
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(part, hash), io.LimitReader(r, MaxBlob+1))
	if err != nil {
		return event.BlobRef{}, err
	}
	if n > MaxBlob {
		return event.BlobRef{}, fault.New(fault.TooLarge, "A file or value of the agent is larger than %d MiB.", MaxBlob>>20)
	}
	return event.BlobRef{SHA256: hex.EncodeToString(hash.Sum(nil)), Size: n}, part.Sync()
}

func (b *blobStore) remove(sum string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh[sum] > 0 {
		return nil
	}
	err := os.Remove(filepath.Join(b.folder, sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// MarkUploaded remembers whether the hub has the blob.
func (j *Journal) MarkUploaded(ctx context.Context, sha256 string, uploaded bool) error {
	return j.record(ctx, func(tx *transaction) error {
		return tx.exec(`UPDATE blobs SET uploaded = ? WHERE sha256 = ?`, uploaded, sha256)
	})
}

// nameBlobs ties the blobs of a row to it.
func (t *transaction) nameBlobs(seq wire.ProducerSeq, blobs []event.BlobRef) error {
	for _, ref := range blobs {
		const name = `INSERT INTO row_blobs (seq, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING`
		if err := t.exec(name, int64(seq), ref.SHA256); err != nil {
			return fmt.Errorf("name blob: %w", err)
		}
		const keep = `INSERT INTO blobs (sha256, size) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING size`
		var added int64
		err := t.sql.QueryRowContext(t.ctx, keep, ref.SHA256, ref.Size).Scan(&added)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("keep blob: %w", err)
		}
		t.state.Used += added
	}
	return nil
}
