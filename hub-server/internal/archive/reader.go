package archive

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

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

// Reader reads one archive. Not safe for concurrent use.
type Reader struct {
	Header Header

	in   *bufio.Reader
	sum  hash.Hash // over everything read before the line at hand
	read Summary
}

// NewReader reads the header of an archive.
func NewReader(in io.Reader) (*Reader, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	zip.Multistream(false) // nothing belongs behind it
	r := &Reader{in: bufio.NewReaderSize(zip, maxLine), sum: sha256.New()}
	text, err := r.line()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.Header); err != nil || r.Header.Format <= 0 {
		return nil, damaged(errors.New("it does not begin as an archive does"))
	}
	if r.Header.Format > Format {
		return nil, ErrNewer
	}
	if err := r.Header.check(); err != nil {
		return nil, damaged(err)
	}
	r.add(text)
	return r, nil
}

// Next returns the next event, and io.EOF when the archive is over and was whole. Until then nobody knows whether it is: Verify first.
func (r *Reader) Next() (Event, error) {
	text, err := r.line()
	if err != nil {
		return Event{}, err
	}
	if bytes.HasPrefix(text, []byte(`{"events":`)) {
		return Event{}, r.end(text)
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Event{}, damaged(err)
	}
	next := r.Header.From + runlog.EventSeq(r.read.Events) //nolint:gosec // a count
	if l.Seq != next || next > r.Header.To || l.Payload < 0 || l.Payload > maxPayload {
		return Event{}, damaged(fmt.Errorf("event %d of %d bytes is where event %d should be", l.Seq, l.Payload, next))
	}
	r.add(text)
	payload := make([]byte, l.Payload+1)
	if _, err := io.ReadFull(r.in, payload); err != nil || payload[l.Payload] != '\n' {
		return Event{}, damaged(fmt.Errorf("event %d is cut off", l.Seq))
	}
	r.add(payload)
	r.read.Events++
	r.read.Payload += int64(l.Payload)
	return l.event(r.Header.Run, payload[:l.Payload:l.Payload]), nil
}

// end compares what was read with what the last line says, and makes sure that it is the last.
func (r *Reader) end(text []byte) error {
	var last Summary
	if err := json.Unmarshal(text, &last); err != nil {
		return damaged(err)
	}
	r.read.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
	if last != r.read {
		return damaged(errors.New("its checksum is wrong"))
	}
	if held := r.Header.To - r.Header.From + 1; runlog.EventSeq(last.Events) != held { //nolint:gosec // a count
		return damaged(fmt.Errorf("it has %d events, not %d", last.Events, held))
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) { // the reader of gzip has compared its own checksum by then
		return damaged(fmt.Errorf("it goes on behind its end: %w", err))
	}
	return io.EOF
}

// line returns the next line with its end. It is good until the next read.
func (r *Reader) line() ([]byte, error) {
	text, err := r.in.ReadSlice('\n')
	if err != nil {
		return nil, damaged(err)
	}
	return text, nil
}

func (r *Reader) add(text []byte) { r.sum.Write(text) } //nolint:errcheck // a hash never fails

func damaged(err error) error { return fmt.Errorf("%w: %v", ErrDamaged, err) } // a cause is not asked for: EOF is the good end

// Verify reads an archive to its end and says what it holds if it is whole.
func Verify(in io.Reader) (Header, Summary, error) {
	r, err := NewReader(in)
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		return Header{}, Summary{}, err
	}
	return r.Header, r.read, nil
}
