package backup

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Reader reads one backup. Not safe for concurrent use.
type Reader struct {
	Header Header

	lines *bufio.Scanner
	sum   hash.Hash // over everything read before the line at hand
	rows  int64
	table *Table
}

// Part is a table, or a row of the table that came last.
type Part struct {
	Table *Table
	Row   []any
}

// NewReader reads the header of a backup.
func NewReader(in io.Reader) (*Reader, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	r := &Reader{lines: bufio.NewScanner(zip), sum: sha256.New()}
	r.lines.Buffer(nil, maxLine)
	line, err := r.line()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(line, &r.Header); err != nil || r.Header.Format <= 0 || r.Header.Schema <= 0 {
		return nil, damaged(errors.New("it does not begin as a backup does"))
	}
	if r.Header.Format > Format {
		return nil, ErrNewer
	}
	r.add(line)
	return r, nil
}

// Next returns what follows, and io.EOF when the backup is over and was whole. Until then nobody knows whether it is: Verify first.
func (r *Reader) Next() (Part, error) {
	line, err := r.line()
	if err != nil {
		return Part{}, err
	}
	part, last, err := r.parse(line)
	if err != nil {
		return Part{}, damaged(err)
	}
	if last != nil {
		return Part{}, r.end(*last)
	}
	r.add(line)
	return part, nil
}

// parse reads a line: a part, or the trailer.
func (r *Reader) parse(line []byte) (Part, *trailer, error) {
	if bytes.HasPrefix(line, []byte("[")) {
		row, err := r.row(line)
		return Part{Row: row}, nil, err
	}
	var object struct {
		Table
		trailer
	}
	if err := json.Unmarshal(line, &object); err != nil {
		return Part{}, nil, err
	}
	if object.SHA256 != "" && object.Name == "" {
		return Part{}, &object.trailer, nil
	}
	if err := object.check(); err != nil {
		return Part{}, nil, err
	}
	r.table = &object.Table
	return Part{Table: r.table}, nil, nil
}

func (r *Reader) row(line []byte) ([]any, error) {
	var cells []json.RawMessage
	if err := json.Unmarshal(line, &cells); err != nil {
		return nil, err
	}
	if r.table == nil || len(cells) != len(r.table.Columns) {
		return nil, errors.New("a row does not fit its table")
	}
	row := make([]any, len(cells))
	for i, cell := range cells {
		var err error
		if row[i], err = valueOf(cell); err != nil {
			return nil, fmt.Errorf("row %d of %s: %w", r.rows+1, r.table.Name, err)
		}
	}
	r.rows++
	return row, nil
}

// end compares what was read with what the last line says, and makes sure that it is the last.
func (r *Reader) end(last trailer) error {
	if last.Rows != r.rows || last.SHA256 != hex.EncodeToString(r.sum.Sum(nil)) {
		return damaged(errors.New("its checksum is wrong"))
	}
	if r.lines.Scan() {
		return damaged(errors.New("it goes on behind its end"))
	}
	if err := r.lines.Err(); err != nil {
		return damaged(err)
	}
	return io.EOF
}

func (r *Reader) line() ([]byte, error) {
	if r.lines.Scan() {
		return r.lines.Bytes(), nil
	}
	if err := r.lines.Err(); err != nil {
		return nil, damaged(err)
	}
	return nil, damaged(io.ErrUnexpectedEOF)
}

func (r *Reader) add(line []byte) {
	r.sum.Write(line)         //nolint:errcheck // a hash never fails
	r.sum.Write([]byte{'\n'}) //nolint:errcheck // a hash never fails
}

func damaged(err error) error { return fmt.Errorf("%w: %v", ErrDamaged, err) } // a cause is not asked for: EOF is the good end

// Verify reads a backup to its end and returns its header if it is whole.
func Verify(in io.Reader) (Header, error) {
	r, err := NewReader(in)
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		return Header{}, err
	}
	return r.Header, nil
}
