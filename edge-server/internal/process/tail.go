package process

import "bytes"

// tail keeps the end of a stream: an io.Writer within bounded memory.
type tail struct {
	limit int
	buf   []byte
	cut   int64
}

// Write never fails.
func (t *tail) Write(data []byte) (int, error) {
	n := len(data)
	if len(data) > t.limit {
		t.drop(len(t.buf))
		t.cut += int64(len(data) - t.limit)
		data = data[len(data)-t.limit:]
	}
	t.buf = append(t.buf, data...)
	// Moving only once twice the limit is there makes the cost of a move that of a write.
	if len(t.buf) >= 2*t.limit {
		t.drop(len(t.buf) - t.limit)
	}
	return n, nil
}

func (t *tail) drop(n int) {
	t.cut += int64(n)
	t.buf = append(t.buf[:0], t.buf[n:]...)
}

// text returns the end, from the beginning of a line where that is possible, and how many bytes came before it.
func (t *tail) text() (end string, cut int64) {
	if over := len(t.buf) - t.limit; over > 0 {
		t.drop(over)
	}
	if t.cut == 0 {
		return string(t.buf), 0
	}
	skip := bytes.IndexByte(t.buf, '\n') + 1
	return string(t.buf[skip:]), t.cut + int64(skip)
}
