package delivery

import (
	"bytes"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Body is one frame before it is encoded: its type and its payload, a JSON object.
type Body struct {
	Type    event.FrameType
	Payload []byte
}

// Frame is one encoded frame of /client/ws but for its seq_id. It is encoded once and shared by all connections: each writes its own
// number between the two halves. The bytes are never changed.
type Frame struct {
	head, tail []byte
}

const maxSeqDigits = 20

// NewFrame encodes a body. Without a cursor, the field is left out.
func NewFrame(b Body, cursor Cursor) Frame {
	head := append([]byte(`{"type":`), strconv.Quote(string(b.Type))...)
	head = append(head, seqField...)
	tail := make([]byte, 0, len(b.Payload)+len(cursor)+32)
	tail = append(tail, `,"payload":`...)
	tail = append(tail, b.Payload...)
	if cursor != "" {
		tail = append(tail, `,"cursor":"`...)
		tail = append(tail, cursor...)
		tail = append(tail, '"')
	}
	return Frame{head: head, tail: append(tail, '}')}
}

// Append writes the whole frame with its number on the connection behind dst.
func (f Frame) Append(dst []byte, seq uint64) []byte {
	dst = append(dst, f.head...)
	dst = strconv.AppendUint(dst, seq, 10)
	return append(dst, f.tail...)
}

const seqField = `,"seq_id":`

// AppendUnnumbered writes the frame as it is outside of a connection: without a number.
func (f Frame) AppendUnnumbered(dst []byte) []byte {
	dst = append(dst, bytes.TrimSuffix(f.head, []byte(seqField))...)
	return append(dst, f.tail...)
}

// Len is the number of bytes that Append writes.
func (f Frame) Len(seq uint64) int {
	digits := 1
	for ; seq >= 10; seq /= 10 {
		digits++
	}
	return len(f.head) + digits + len(f.tail)
}

// Size is the number of bytes that the frame has at most.
func (f Frame) Size() int { return len(f.head) + maxSeqDigits + len(f.tail) }

// rowFrames are the encoded frames of a row.
type rowFrames struct {
	all    []Frame
	owner  id.User
	others []Frame // nil: the same for all
}

func (t *Tail) encode(row Row, x Expansion) rowFrames {
	return rowFrames{all: t.encodeAll(row, x.Bodies), owner: x.Owner, others: t.encodeAll(row, x.Others)}
}

// encodeAll encodes what a row expands to. Only the last frame carries the row's cursor: a client that was cut off inside gets the whole
// row again.
func (t *Tail) encodeAll(row Row, bodies []Body) []Frame {
	if bodies == nil {
		return nil
	}
	frames := make([]Frame, len(bodies))
	for i, b := range bodies {
		var cursor Cursor
		if i == len(bodies)-1 {
			cursor = NewCursor(t.epoch(), row.Position)
		}
		frames[i] = NewFrame(b, cursor)
	}
	return frames
}

// of returns what a user gets.
func (f rowFrames) of(user id.User) []Frame {
	if f.others == nil || user == f.owner {
		return f.all
	}
	return f.others
}

func sizeOf(frames []Frame) int {
	size := 0
	for _, f := range frames {
		size += f.Size()
	}
	return size
}
