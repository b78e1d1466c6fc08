package redact

import (
	"bytes"
	"errors"
	"io"
)

// Stream redacts a text that comes in pieces. What may be the beginning of a secret is held back until the next piece shows whether it is.
// Not safe for concurrent use.
type Stream struct {
	r    *Redactor
	held []byte
}

// Stream returns a Stream at its beginning.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Push takes the next piece and returns what is certain by now.
func (s *Stream) Push(piece string) string {
	if s.r.Idle() {
		return piece
	}
	out, held := s.r.scan(append(s.held, piece...), s.r.mayContinue)
	s.held = bytes.Clone(held)
	return string(out)
}

// Undecided says whether something is held back. A stream that holds nothing back is like one at its beginning.
func (s *Stream) Undecided() bool { return len(s.held) > 0 }

// Flush ends the text: what is still held back is no secret, or one whose end was never said.
func (s *Stream) Flush() string {
	out, _ := s.r.scan(s.held, func(text []byte, _ int) int { return len(text) })
	s.held = nil
	return string(out)
}

// scan replaces whole secrets up to where, from a position on, undecided says that the text may be the beginning of one; that rest it returns
// apart.
func (r *Redactor) scan(text []byte, undecided func(text []byte, from int) int) (out, rest []byte) {
	f := finder{r: r, text: text, next: make([]int, len(r.needles))}
	pos := 0
	hold := undecided(text, pos)
	for {
		at, size, found := f.find(pos)
		if !found || at >= hold {
			return append(out, text[pos:hold]...), text[hold:]
		}
		out = append(append(out, text[pos:at]...), Mask...)
		pos = at + size
		if pos > hold {
			hold = undecided(text, pos)
		}
	}
}

// mayContinue returns the first position, not before from, at which the rest of text is the beginning of a secret but not the whole.
func (r *Redactor) mayContinue(text []byte, from int) int {
	for at := max(from, len(text)-r.longest+1); at < len(text); at++ {
		for _, needle := range r.needles {
			if len(needle) > len(text)-at && bytes.HasPrefix(needle, text[at:]) {
				return at
			}
		}
	}
	return len(text)
}

// finder finds the secrets of a text from left to right. It remembers where each one comes next, so that the text is read once per secret
// however many there are of another.
type finder struct {
	r    *Redactor
	text []byte
	next []int // position of each needle; -1 when there is no more
}

// find returns the first secret at or after pos, the longest of those that begin there.
func (f *finder) find(pos int) (at, size int, found bool) {
	for i, needle := range f.r.needles {
		if f.next[i] >= 0 && (f.next[i] < pos || pos == 0) {
			f.next[i] = -1
			if offset := bytes.Index(f.text[pos:], needle); offset >= 0 {
				f.next[i] = pos + offset
			}
		}
		if f.next[i] >= 0 && (!found || f.next[i] < at) {
			at, size, found = f.next[i], len(needle), true
		}
	}
	return at, size, found
}

// Reader returns what r yields, without secrets.
func (r *Redactor) Reader(from io.Reader) io.Reader {
	if r.Idle() {
		return from
	}
	return &reader{from: from, stream: r.Stream()}
}

type reader struct {
	from   io.Reader
	stream *Stream
	ready  []byte
	err    error
}

const chunkSize = 32 << 10

func (r *reader) Read(p []byte) (int, error) {
	chunk := make([]byte, chunkSize)
	for len(r.ready) == 0 && r.err == nil {
		n, err := r.from.Read(chunk)
		r.ready = []byte(r.stream.Push(string(chunk[:n])))
		if r.err = err; errors.Is(err, io.EOF) {
			r.ready = append(r.ready, r.stream.Flush()...)
		}
	}
	if len(r.ready) == 0 {
		return 0, r.err
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}
