package omni

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Bounds of a message. They are held before anything parses it.
const (
	MaxBytes = 32 << 20       // of its line: an image of 20 MB in base64 fits
	MaxDepth = event.MaxDepth // of arrays and objects in each other, the message itself included
)

// What is wrong with a line or a payload that cannot be read.
var (
	ErrTooLarge   = fmt.Errorf("a message has at most %d bytes", MaxBytes)
	ErrTooDeep    = fmt.Errorf("a message nests at most %d deep", MaxDepth)
	ErrNotMessage = errors.New("not a message: one line of JSON, an object with a type and a payload")
	ErrPayload    = errors.New("the payload has not the shape of its type")
)

// timeFormat is that of timestamps: milliseconds of UTC.
const timeFormat = "2006-01-02T15:04:05.000Z"

// Message is one message: a line of JSON that never changes, and where its parts stand in it. New, Decode and WithOrigin make one; there is no
// other way. It may be used by many goroutines at once. The zero Message is none.
type Message struct {
	line       []byte // without its end
	typ        MessageType
	payload    span
	originSpan span // where the value of origin stands; its to is 0 if there is none
	timestamp  string
	origin     []string
	kind       PayloadType
}

// New makes the message of a payload, with the time in milliseconds of UTC. What is not UTF-8 becomes U+FFFD. The error is Problems where Validate
// finds some, or ErrTooLarge, ErrTooDeep or that of a value in the payload that is not JSON.
func New(at time.Time, p Payload) (Message, error) {
	m, err := build(at.UTC().Format(timeFormat), p)
	if err != nil {
		return Message{}, err
	}
	if err := m.Validate(); err != nil {
		return Message{}, err
	}
	return m, nil
}

// build makes a message that need not be right in all its fields. It writes what parse would read, and so need not read it.
func build(timestamp string, p Payload) (Message, error) {
	if p == nil {
		return Message{}, ErrPayload
	}
	key := p.shape()
	w := writers.Get().(*writer) //nolint:errcheck,forcetypeassert // there is nothing else in it
	defer w.free()
	w.out = event.AppendString(append(w.out, `{"timestamp":`...), timestamp)
	w.out = append(append(append(w.out, `,"type":"`...), key.Message...), `","payload":`...)
	from := len(w.out)
	if err := w.payload(p); err != nil {
		return Message{}, fmt.Errorf("encode %s: %w", key.Type, err)
	}
	to := len(w.out)
	w.out = append(w.out, '}')
	if err := w.bounded(); err != nil {
		return Message{}, err
	}
	return Message{line: bytes.Clone(w.out), typ: key.Message, payload: span{from, to}, timestamp: timestamp, kind: key.Type}, nil
}

// Decode reads a line, with or without its end. It asks for no more than the form: one object with a type and a payload, within the bounds. Types,
// keys and words that are not known are right here; Validate says whether a message is as S1 has it. Errors are ErrTooLarge, ErrTooDeep and
// ErrNotMessage. The line is copied.
func Decode(line []byte) (Message, error) {
	return parse(bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))))
}

func parse(line []byte) (Message, error) {
	if err := bounded(line); err != nil {
		return Message{}, err
	}
	several := bytes.IndexByte(line, '\n') >= 0 || bytes.IndexByte(line, '\r') >= 0
	if several || !utf8.Valid(line) || !isKind(bytes.TrimSpace(line), '{') || !json.Valid(line) {
		return Message{}, ErrNotMessage
	}
	m := Message{line: line}
	for key, at := range members(line) {
		if err := m.take(key, at); err != nil {
			return Message{}, err
		}
	}
	if m.typ == "" || m.payload.to == 0 {
		return Message{}, ErrNotMessage
	}
	if value := valueOf(m.Payload(), "type"); isKind(value, '"') {
		m.kind = PayloadType(word(value))
	}
	return m, nil
}

func bounded(line []byte) error {
	switch {
	case len(line) > MaxBytes:
		return ErrTooLarge
	case event.Depth(line) > MaxDepth:
		return ErrTooDeep
	}
	return nil
}

// take keeps a member of the envelope. Of which of two values is meant readers would have different ideas.
func (m *Message) take(key []byte, at span) error {
	value := at.in(m.line)
	twice := false
	switch string(key) {
	case "type":
		twice = m.typ != ""
		if isKind(value, '"') {
			m.typ = MessageType(word(value))
		}
	case "payload":
		twice = m.payload.to > 0
		if isKind(value, '{') {
			m.payload = at
		}
	case "timestamp":
		twice = m.timestamp != ""
		if isKind(value, '"') {
			m.timestamp = unquote(value)
		}
	case "origin":
		twice = m.originSpan.to > 0
		m.originSpan = at
		_ = json.Unmarshal(value, &m.origin) //nolint:errcheck // Validate says what is wrong with it
	}
	if twice {
		return fmt.Errorf("%w: %s is there twice", ErrNotMessage, key)
	}
	return nil
}

// Bytes returns the message as one line of JSON without its end, byte for byte as it was made or read. They must not be changed.
func (m Message) Bytes() []byte { return m.line }

// Line returns the message with the end of its line, as it stands in a trace.
func (m Message) Line() []byte { return append(slices.Clip(m.line), '\n') }

// Type is the envelope's.
func (m Message) Type() MessageType { return m.typ }

// PayloadType is the payload's, "" if it has none.
func (m Message) PayloadType() PayloadType { return m.kind }

// Payload returns the bytes of the payload. They must not be changed.
func (m Message) Payload() json.RawMessage {
	return m.payload.in(m.line)
}

// Timestamp is as it was written; Time is what it says, zero if it says none.
func (m Message) Timestamp() string { return m.timestamp }

// Time is when the message was made.
func (m Message) Time() time.Time {
	read, err := time.Parse(time.RFC3339Nano, m.timestamp)
	if err != nil {
		return time.Time{}
	}
	return read
}

// Origin is the chain of sub-agents' sessions that the message came through, the outermost first; empty in the main session (S1, origin).
func (m Message) Origin() []string { return slices.Clone(m.origin) }

// Body reads the payload: one of the payload structs of this package, or nil for a type that is not known. Keys and words that are not known are
// no error, nor is what is missing; ErrPayload is that a value is of another kind than its field.
func (m Message) Body() (Payload, error) {
	shape := byKey[shapeKey{m.typ, m.kind}]
	if shape == nil {
		return nil, nil //nolint:nilnil // as said above
	}
	read := reflect.New(reflect.TypeOf(shape.zero)).Elem()
	if err := readFields(read, m.Payload(), atPayload); err != nil {
		return nil, err
	}
	body, _ := read.Interface().(Payload)
	return body, nil
}

// MarshalJSON returns Bytes. Note that json.Marshal writes `<` another way: who sends a message sends Bytes.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.line == nil {
		return nil, ErrNotMessage
	}
	return m.line, nil
}

// UnmarshalJSON is Decode.
func (m *Message) UnmarshalJSON(line []byte) (err error) {
	*m, err = Decode(line)
	return err
}
