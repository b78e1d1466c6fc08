package backup

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
)

// Writer writes one backup. Not safe for concurrent use.
type Writer struct {
	zip     *gzip.Writer
	sum     hash.Hash // over everything written so far
	rows    int64
	columns int // of the table at hand
}

// NewWriter begins a backup. It sets the header's Format.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	w := &Writer{zip: gzip.NewWriter(out), sum: sha256.New()}
	h.Format = Format
	err := w.line(h)
	return w, err
}

// Table says that the rows that follow are this table's.
func (w *Writer) Table(t Table) error {
	if err := t.check(); err != nil {
		return err
	}
	w.columns = len(t.Columns)
	return w.line(t)
}

// Row writes the values of one row, each as database/sql gives it: nil, int64, bool, string or []byte.
func (w *Writer) Row(values []any) error {
	if len(values) != w.columns || w.columns == 0 {
		return fmt.Errorf("a row has %d values, its table %d columns", len(values), w.columns)
	}
	cells := make([]any, len(values))
	for i, v := range values {
		var err error
		if cells[i], err = portable(v); err != nil {
			return err
		}
	}
	w.rows++
	return w.line(cells)
}

// Close ends the backup; without it, what was written counts as damaged. It does not close what it was written to.
func (w *Writer) Close() error {
	if err := w.line(trailer{Rows: w.rows, SHA256: hex.EncodeToString(w.sum.Sum(nil))}); err != nil {
		return err
	}
	return w.zip.Close()
}

func (w *Writer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if len(text) >= maxLine {
		return fmt.Errorf("a row of %d bytes is too long for a backup", len(text))
	}
	text = append(text, '\n')
	w.sum.Write(text) //nolint:errcheck // a hash never fails
	_, err = w.zip.Write(text)
	return err
}
