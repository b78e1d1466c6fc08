package runlog

import (
	"context"
	"fmt"
	"io"
)

// Parts reads an upload of a known size from any place in it, one part at a time. It is good until ctx ends.
func (b *Blobs) Parts(ctx context.Context, upload Upload, size int64) io.ReadSeeker {
	return &parts{ctx: ctx, store: b.store, upload: upload, size: size, held: -1}
}

type parts struct {
	ctx    context.Context //nolint:containedctx // a Reader has no other way to end early
	store  BlobStore
	upload Upload
	size   int64
	at     int64
	held   int64 // number of the part in data, -1: none
	data   []byte
}

// Read implements io.Reader.
func (p *parts) Read(dst []byte) (int, error) {
	if p.at >= p.size {
		return 0, io.EOF
	}
	if n := p.at / blobPart; n != p.held {
		data, err := p.store.Part(p.ctx, p.upload, int(n))
		if err != nil {
			return 0, fmt.Errorf("read part %d: %w", n, err)
		}
		if int64(len(data)) != min(blobPart, p.size-n*blobPart) {
			return 0, fmt.Errorf("read part %d: it has %d bytes: %w", n, len(data), io.ErrUnexpectedEOF)
		}
		p.held, p.data = n, data
	}
	n := copy(dst, p.data[p.at%blobPart:])
	p.at += int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (p *parts) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += p.at
	case io.SeekEnd:
		offset += p.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d: before the beginning", offset)
	}
	p.at = offset
	return offset, nil
}
