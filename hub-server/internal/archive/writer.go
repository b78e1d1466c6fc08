package archive

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

// Writer writes one archive. Not safe for concurrent use.
type Writer struct {
	header Header
	zip    *gzip.Writer
	sum    hash.Hash // over everything written so far
	done   Summary
}

// NewWriter begins an archive. It sets the header's Format.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	h.Format = Format
	if err := h.check(); err != nil {
		return nil, err
	}
	w := &Writer{header: h, zip: gzip.NewWriter(out), sum: sha256.New()}
	err := w.json(h)
	return w, err
}

// Add writes the next event. They come without a hole.
func (w *Writer) Add(e Event) error {
	if next := w.header.From + runlog.EventSeq(w.done.Events); e.Seq != next || e.Run != w.header.Run || next > w.header.To { //nolint:gosec // a count
		return fmt.Errorf("event %d of %s does not belong where event %d of %s is expected", e.Seq, e.Run, next, w.header.Run)
	}
	if err := w.json(lineOf(e)); err != nil {
		return err
	}
	w.done.Events++
	w.done.Payload += int64(len(e.Payload))
	return w.write(append(append([]byte{}, e.Payload...), '\n'))
}

// Close ends the archive; without it, what was written counts as damaged. It does not close what it was written to.
func (w *Writer) Close() (Summary, error) {
	if last := w.header.From + runlog.EventSeq(w.done.Events) - 1; last != w.header.To { //nolint:gosec // a count
		return Summary{}, fmt.Errorf("events up to %d were written of %d to %d", last, w.header.From, w.header.To)
	}
	w.done.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	if err := w.json(w.done); err != nil {
		return Summary{}, err
	}
	return w.done, w.zip.Close()
}

func (w *Writer) json(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if len(text) >= maxLine {
		return fmt.Errorf("a line of %d bytes is too long for an archive", len(text))
	}
	return w.write(append(text, '\n'))
}

func (w *Writer) write(data []byte) error {
	w.sum.Write(data) //nolint:errcheck // a hash never fails
	_, err := w.zip.Write(data)
	return err
}
