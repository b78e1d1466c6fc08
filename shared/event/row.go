package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// ErrRow is wrapped by every error of ParseRow and AppendRow: the bytes or the envelope are no journal row.
var ErrRow = errors.New("malformed row")

// ErrRowTooLarge is wrapped beside ErrRow when the row is beyond MaxRowBytes.
var ErrRowTooLarge = errors.New("row too large")

// ParseRow reads one journal row. It ignores keys it does not know and insists on the required ones. Payload holds the bytes between the
// colon and the closing brace exactly as they were; it does not alias data.
func ParseRow(data []byte) (Envelope, error) {
	if err := checkRowBytes(data); err != nil {
		return Envelope{}, err
	}
	var e Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return Envelope{}, fmt.Errorf("%w: %w", ErrRow, err)
	}
	if err := e.check(); err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// AppendRow encodes e behind dst. Payload bytes are spliced in as they are (encoding/json would rewrite them). SentAt is stored in UTC
// microseconds.
func AppendRow(dst []byte, e Envelope) ([]byte, error) {
	if err := e.check(); err != nil {
		return dst, err
	}
	if !json.Valid(e.Payload) {
		return dst, fmt.Errorf("%w: payload is not JSON", ErrRow)
	}
	head, err := Encode(head{
		Version: e.Version, ID: e.ID, Seq: e.Seq, Type: e.Type, Scope: e.Scope,
		TraceID: e.TraceID, SpanID: e.SpanID, SentAt: e.SentAt.UTC().Truncate(time.Microsecond),
	})
	if err != nil {
		return dst, fmt.Errorf("encode row head: %w", err)
	}
	start := len(dst)
	dst = append(dst, head[:len(head)-1]...)
	dst = append(dst, `,"payload":`...)
	dst = append(dst, e.Payload...)
	dst = append(dst, '}')
	if err := checkRowBytes(dst[start:]); err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// head is an Envelope without its payload.
type head struct {
	Version string    `json:"version"`
	ID      id.Event  `json:"id"`
	Seq     uint64    `json:"seq"`
	Type    WireType  `json:"type"`
	Scope   Scope     `json:"scope"`
	TraceID string    `json:"traceId,omitempty"`
	SpanID  string    `json:"spanId,omitempty"`
	SentAt  time.Time `json:"sentAt"`
}

func checkRowBytes(data []byte) error {
	switch {
	case len(data) > MaxRowBytes:
		return fmt.Errorf("%w: %w: %d bytes", ErrRow, ErrRowTooLarge, len(data))
	case !utf8.Valid(data):
		return fmt.Errorf("%w: not UTF-8", ErrRow)
	case Depth(data) > MaxDepth:
		return fmt.Errorf("%w: nested deeper than %d", ErrRow, MaxDepth)
	}
	return nil
}

func (e Envelope) check() error {
	if e.Version != Version {
		return fmt.Errorf("%w: version %.8q", ErrRow, e.Version)
	}
	if _, err := id.ParseEvent(string(e.ID)); err != nil {
		return fmt.Errorf("%w: id: %w", ErrRow, err)
	}
	switch {
	case e.Seq == 0:
		return fmt.Errorf("%w: seq missing", ErrRow)
	case !WellFormed(string(e.Type)):
		return fmt.Errorf("%w: type %.100q", ErrRow, e.Type)
	case e.SentAt.IsZero():
		return fmt.Errorf("%w: sentAt missing", ErrRow)
	case !bytes.HasPrefix(e.Payload, []byte("{")):
		return fmt.Errorf("%w: payload is not an object", ErrRow)
	}
	return e.checkTrace()
}

func (e Envelope) checkTrace() error {
	if e.TraceID != "" {
		if _, err := ParseTraceID(e.TraceID); err != nil {
			return fmt.Errorf("%w: %w", ErrRow, err)
		}
	}
	if e.SpanID != "" && (e.TraceID == "" || !isHex(e.SpanID, spanDigits)) {
		return fmt.Errorf("%w: spanId", ErrRow)
	}
	return nil
}
