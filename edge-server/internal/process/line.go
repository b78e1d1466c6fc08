package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Line is one line of output, without its line end.
type Line struct {
	Text []byte // valid until the next line is read
	Cut  int64  // bytes dropped past the end of Text; 0 for a whole line
}

// String returns the text for people, with a marker where something is missing.
func (l Line) String() string { return l.Clip(len(l.Text)) }

// Clip is String for the first limit bytes of the text. It copies no more of it.
func (l Line) Clip(limit int) string {
	text := l.Text
	if len(text) > limit {
		text = trimPartialRune(text[:limit])
	}
	if cut := l.Cut + int64(len(l.Text)-len(text)); cut > 0 {
		return string(text) + CutMarker(cut)
	}
	return string(text)
}

// CutMarker stands for n bytes that were dropped.
func CutMarker(n int64) string { return fmt.Sprintf(" …[%d bytes cut]", n) }

// LineReader reads lines of any length within bounded memory: of a line longer than its limit the beginning is kept, the rest is read and
// dropped, and the next line is whole again.
type LineReader struct {
	r     *bufio.Reader
	limit int
	buf   []byte
	enter func() (leave func()) // called once for a line above keepBuffer; leave is called when the line is not used any more
	leave func()                // nil if the line is not large
}

const (
	readSize = 64 << 10
	// keepBuffer is the largest buffer that is kept from one line to the next. A longer line is large.
	keepBuffer = 1 << 20
)

// NewLineReader returns a reader that keeps up to limit bytes of a line.
func NewLineReader(r io.Reader, limit int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, readSize), limit: limit, enter: func() func() { return func() {} }}
}

// Next returns the next line. Both \n and \r\n end one, and so does the end of the stream. The error is io.EOF after the last line, else
// that of the reader underneath; what was read before it is returned as a line first.
func (l *LineReader) Next() (Line, error) {
	l.forget()
	var cut int64
	for {
		chunk, err := l.r.ReadSlice('\n')
		ended, more := err == nil, errors.Is(err, bufio.ErrBufferFull)
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		kept := min(len(chunk), l.limit-len(l.buf))
		l.grow(len(l.buf) + kept)
		l.buf = append(l.buf, chunk[:kept]...)
		cut += int64(len(chunk) - kept)
		switch {
		case ended, !more && len(l.buf) > 0:
			return l.finish(cut), nil
		case !more:
			return Line{}, err
		}
	}
}

// forget ends the line that was returned last.
func (l *LineReader) forget() {
	l.buf = l.buf[:0]
	if l.leave != nil {
		l.leave()
		l.leave = nil
	}
}

// grow makes room for size bytes, which are within the limit. It doubles, and goes to the limit for a large line: growing as append does would
// leave five times the longest line behind in buffers that were outgrown.
func (l *LineReader) grow(size int) {
	if size <= cap(l.buf) {
		return
	}
	room := max(size, 2*cap(l.buf))
	if size > keepBuffer {
		l.leave = l.enter()
		room = l.limit
	}
	l.buf = append(make([]byte, 0, min(room, l.limit)), l.buf...)
}

// finish returns the line that was read. A large buffer is not kept beside it: who has taken the line apart is rid of it.
func (l *LineReader) finish(cut int64) Line {
	text := l.buf
	if cap(text) > keepBuffer {
		l.buf = nil
	}
	if cut == 0 {
		return Line{Text: bytes.TrimSuffix(text, []byte("\r"))}
	}
	whole := trimPartialRune(text)
	return Line{Text: whole, Cut: cut + int64(len(text)-len(whole))}
}

// trimPartialRune drops a character that the limit cut in two.
func trimPartialRune(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		tail := text[len(text)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
