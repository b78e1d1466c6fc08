package runlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// BlobHash names bytes beside the log: 64 lower-case hex digits of their SHA-256.
type BlobHash string

// ErrBlobHash is returned by ParseBlobHash.
var ErrBlobHash = errors.New("malformed blob hash: want 64 lower-case hex digits")

// ParseBlobHash accepts exactly 64 lower-case hex digits.
func ParseBlobHash(s string) (BlobHash, error) {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != sha256.Size || s != strings.ToLower(s) {
		return "", ErrBlobHash
	}
	return BlobHash(s), nil
}

// DefaultMaxBlob bounds one blob, in bytes, when Config does not.
const DefaultMaxBlob = 64 << 20

// blobPart is how many bytes of a blob one row holds.
const blobPart = 1 << 20

// Upload names bytes that are on their way in.
type Upload uint64

// BlobStore keeps blobs in parts. Safe for concurrent use.
type BlobStore interface {
	// HasBlob says whether the edge has shown that it holds the blob.
	HasBlob(ctx context.Context, edge id.Edge, hash BlobHash) (bool, error)
	// BeginUpload makes room for parts, AddPart stores one, numbered from 0. An upload that never finishes is swept later.
	BeginUpload(ctx context.Context) (Upload, error)
	AddPart(ctx context.Context, upload Upload, part int, data []byte) error
	// Part reads one part of an upload.
	Part(ctx context.Context, upload Upload, part int) ([]byte, error)
	// FinishUpload makes the upload the blob, or drops it if another one was first; the edge holds the blob either way.
	FinishUpload(ctx context.Context, edge id.Edge, upload Upload, hash BlobHash, size int64) error
	// DropUpload drops an upload that will not finish. One that has finished stays.
	DropUpload(ctx context.Context, upload Upload) error
	// SweepUploads drops uploads that began before a time and never finished.
	SweepUploads(ctx context.Context, before time.Time) error
	// OpenBlob returns the size of a blob and a function that reads one part of it; fault.NotFound.
	OpenBlob(ctx context.Context, hash BlobHash) (size int64, part func(ctx context.Context, n int) ([]byte, error), err error)
}

// Blobs keeps bytes beside the log: large values and artifacts. Safe for concurrent use.
type Blobs struct {
	store BlobStore
	max   int64 // bytes of one blob
}

// Has says whether the edge may name the blob: it has uploaded the bytes, whoever else has them.
func (b *Blobs) Has(ctx context.Context, edge id.Edge, hash BlobHash) (bool, error) {
	return b.store.HasBlob(ctx, edge, hash)
}

// Put stores what body gives as the blob hash of the edge. It may be repeated. Errors: fault.BodyTooLarge,
// fault.BlobMismatch when the bytes are not those of the hash, and whatever body returns.
func (b *Blobs) Put(ctx context.Context, edge id.Edge, hash BlobHash, body io.Reader) error {
	upload, got, size, err := b.Receive(ctx, body, b.max)
	if err != nil {
		return err
	}
	if got != hash {
		return fault.New(fault.BlobMismatch, "The bytes are not those that the hash names. Upload the file again.")
	}
	return b.store.FinishUpload(ctx, edge, upload, hash, size)
}

// Receive stores body, of at most so many bytes, in parts of an upload that its caller finishes or drops; what a crash leaves is swept.
// Errors: fault.BodyTooLarge, and whatever body returns; then nothing is left.
func (b *Blobs) Receive(ctx context.Context, body io.Reader, most int64) (upload Upload, hash BlobHash, size int64, err error) {
	if upload, err = b.store.BeginUpload(ctx); err != nil {
		return 0, "", 0, fmt.Errorf("begin upload: %w", err)
	}
	if hash, size, err = b.receive(ctx, upload, body, most); err != nil {
		return 0, "", 0, errors.Join(err, b.Drop(ctx, upload))
	}
	return upload, hash, size, nil
}

// Drop drops what Receive stored, whether or not its caller waits for it. An upload that has finished stays.
func (b *Blobs) Drop(ctx context.Context, upload Upload) error {
	if err := b.store.DropUpload(context.WithoutCancel(ctx), upload); err != nil {
		return fmt.Errorf("drop upload: %w", err)
	}
	return nil
}

// receive stores body in parts and returns what it hashes to.
func (b *Blobs) receive(ctx context.Context, upload Upload, body io.Reader, most int64) (hash BlobHash, size int64, err error) {
	sum := sha256.New()
	buf := make([]byte, blobPart)
	for part := 0; ; part++ {
		n, err := io.ReadFull(body, buf)
		if size += int64(n); size > most {
			return "", 0, fault.New(fault.BodyTooLarge, "A file may have at most %d bytes.", most)
		}
		sum.Write(buf[:n])
		if n > 0 {
			if err := b.store.AddPart(ctx, upload, part, buf[:n]); err != nil {
				return "", 0, fmt.Errorf("store part %d: %w", part, err)
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return BlobHash(hex.EncodeToString(sum.Sum(nil))), size, nil
		}
		if err != nil {
			return "", 0, fmt.Errorf("read blob: %w", err)
		}
	}
}

// uploadLife is how long an upload may take, by the hub's wall clock.
const uploadLife = 24 * time.Hour

// sweep drops what dead uploads left behind.
func (b *Blobs) sweep(ctx context.Context) error {
	return b.store.SweepUploads(ctx, now().Add(-uploadLife))
}

// keep stores a value of the hub's own as if the edge had uploaded it.
func (b *Blobs) keep(ctx context.Context, edge id.Edge, value []byte) (event.BlobRef, error) {
	sum := sha256.Sum256(value)
	ref := event.BlobRef{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(value))}
	return ref, b.Put(ctx, edge, BlobHash(ref.SHA256), strings.NewReader(string(value)))
}

// Open returns the size of a blob in bytes and a reader of it, good until ctx ends. Whether the caller may see it is not asked here.
// Errors: fault.NotFound.
func (b *Blobs) Open(ctx context.Context, hash BlobHash) (int64, io.Reader, error) {
	size, part, err := b.store.OpenBlob(ctx, hash)
	if err != nil {
		return 0, nil, err
	}
	return size, &blobReader{ctx: ctx, part: part, left: size}, nil
}

// text is TextOf a blob that is kept here.
func (b *Blobs) text(ctx context.Context, hash BlobHash) (string, error) {
	return TextOf(ctx, b.store.OpenBlob, hash)
}

// OpenBlob is that of a BlobStore.
type OpenBlob func(ctx context.Context, hash BlobHash) (size int64, part func(ctx context.Context, n int) ([]byte, error), err error)

// TextOf reads a blob as a text for a message: the beginning of one that is too long, with a word about the rest. Errors: fault.NotFound.
func TextOf(ctx context.Context, open OpenBlob, hash BlobHash) (string, error) {
	size, part, err := open(ctx, hash)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(&blobReader{ctx: ctx, part: part, left: size}, maxSaid+1))
	if err != nil {
		return "", fmt.Errorf("read blob: %w", err)
	}
	return shorten(string(data)), nil
}

// blobReader holds one part at a time.
type blobReader struct {
	ctx  context.Context //nolint:containedctx // a Reader has no other way to end early
	part func(ctx context.Context, n int) ([]byte, error)
	next int
	left int64
	rest []byte
}

func (r *blobReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		data, err := r.part(r.ctx, r.next)
		if err != nil {
			return 0, fmt.Errorf("read part %d: %w", r.next, err)
		}
		if len(data) == 0 || int64(len(data)) > r.left {
			return 0, fmt.Errorf("read part %d: %d bytes, %d expected at most: %w", r.next, len(data), r.left, io.ErrUnexpectedEOF)
		}
		r.rest, r.left = data, r.left-int64(len(data))
		r.next++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
