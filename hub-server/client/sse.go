package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// maxBlock bounds one server-sent event, in bytes: the longest message there is, and what stands around it.
const maxBlock = omni.MaxBytes + 4<<10

var errBlockTooLarge = fmt.Errorf("a server-sent event of more than %d bytes", maxBlock)

// sseBlock is one server-sent event, or a sign of life.
type sseBlock struct {
	id    string
	hasID bool
	name  string // "" of an unnamed one
	data  []byte
	said  bool // it has data
}

// sseReader reads a stream of server-sent events. A block that its connection does not end is none.
type sseReader struct {
	from  *bufio.Reader
	heard func() // is called for each piece that comes
	size  int    // of the block that is read
}

func newSSEReader(from io.Reader, heard func()) *sseReader {
	return &sseReader{from: bufio.NewReaderSize(from, 64<<10), heard: heard}
}

// next returns the next block that says something, and how many bytes it had.
func (r *sseReader) next() (sseBlock, int, error) {
	var b sseBlock
	for r.size = 0; ; {
		line, err := r.line()
		if err != nil {
			return sseBlock{}, 0, err
		}
		switch {
		case len(line) > 0:
			b.take(line)
		case b.hasID || b.said:
			return b, r.size, nil
		default: // a comment
			r.size = 0
		}
	}
}

// take adds a line: a field, or a comment.
func (b *sseBlock) take(line []byte) {
	key, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(key) {
	case "id":
		b.id, b.hasID = string(value), true
	case "event":
		b.name = string(value)
	case "data":
		if b.said {
			b.data = append(b.data, '\n')
		}
		b.data, b.said = append(b.data, value...), true
	}
}

// line returns the next line without its end.
func (r *sseReader) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := r.from.ReadSlice('\n')
		r.heard()
		if r.size += len(part); r.size > maxBlock {
			return nil, errBlockTooLarge
		}
		if err == nil && whole == nil {
			return bytes.TrimRight(part, "\r\n"), nil
		}
		whole = append(whole, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		default:
			return bytes.TrimRight(whole, "\r\n"), nil
		}
	}
}
