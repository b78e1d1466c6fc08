package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of a frame, in bytes.
const (
	MaxRow         = 256 << 10
	DefaultFrame   = 64 << 10
	maxFrameRows   = 4096
	MaxFrameBytes  = MaxRow + DefaultFrame + 4096
	MaxControlSize = 512 << 10 // JSON control messages, commands included
)

var frameMagic = [4]byte{'S', 'Y', 'F', '1'}

// ErrFrame is wrapped by every decode failure of a frame.
var ErrFrame = errors.New("malformed frame")

// Frame is a run of consecutive journal rows: First, First+1, …
type Frame struct {
	Generation Generation
	First      ProducerSeq
	Rows       [][]byte
}

// Last is the number of the last row; First-1 for an empty frame.
func (f Frame) Last() ProducerSeq { return f.First + ProducerSeq(len(f.Rows)) - 1 }

// Append encodes f behind dst: magic, generation, first, count as uvarints, then each row with its length.
func (f Frame) Append(dst []byte) []byte {
	dst = append(dst, frameMagic[:]...)
	dst = binary.AppendUvarint(dst, uint64(f.Generation))
	dst = binary.AppendUvarint(dst, uint64(f.First))
	dst = binary.AppendUvarint(dst, uint64(len(f.Rows)))
	for _, row := range f.Rows {
		dst = binary.AppendUvarint(dst, uint64(len(row)))
		dst = append(dst, row...)
	}
	return dst
}

// DecodeFrame reads what Append wrote. The rows alias data. Every error wraps ErrFrame.
func DecodeFrame(data []byte) (Frame, error) {
	if len(data) > MaxFrameBytes {
		return Frame{}, fmt.Errorf("%w: %d bytes", ErrFrame, len(data))
	}
	r := reader{rest: data}
	r.expectMagic()
	f := Frame{Generation: Generation(r.uvarint()), First: ProducerSeq(r.uvarint())}
	count := r.uvarint()
	if r.failed == "" && (count == 0 || count > maxFrameRows || f.First == 0 || f.First > math.MaxUint64-ProducerSeq(count)) {
		r.fail("bad row count or first row")
	}
	for i := uint64(0); i < count && r.failed == ""; i++ {
		f.Rows = append(f.Rows, r.bytes())
	}
	if r.failed == "" && len(r.rest) > 0 {
		r.fail("trailing bytes")
	}
	if r.failed != "" {
		return Frame{}, fmt.Errorf("%w: %s", ErrFrame, r.failed)
	}
	return f, nil
}

// reader consumes a frame and remembers its first failure; after one it returns zero values.
type reader struct {
	rest   []byte
	failed string
}

func (r *reader) fail(why string) { r.failed, r.rest = why, nil }

func (r *reader) expectMagic() {
	if len(r.rest) < len(frameMagic) || [4]byte(r.rest) != frameMagic {
		r.fail("no magic")
		return
	}
	r.rest = r.rest[len(frameMagic):]
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail("bad number")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > MaxRow || n > uint64(len(r.rest)) {
		r.fail("bad row length")
		return nil
	}
	row := r.rest[:n:n]
	r.rest = r.rest[n:]
	return row
}
