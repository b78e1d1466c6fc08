package trial

import (
	"bytes"
	"strings"
)

// maxPrinted bounds a line of stderr that is waited for, in bytes; a longer one is shown in pieces.
const maxPrinted = 64 << 10

// lineWriter cuts what is written to it into lines, as soon as they are there. An io.Writer for one goroutine.
type lineWriter struct {
	line func(string)
	buf  []byte
}

// Write never fails.
func (w *lineWriter) Write(data []byte) (int, error) {
	w.buf = append(w.buf, data...)
	for {
		end := bytes.IndexByte(w.buf, '\n')
		if end < 0 {
			break
		}
		w.line(strings.TrimSuffix(string(w.buf[:end]), "\r"))
		w.buf = w.buf[end+1:]
	}
	if len(w.buf) > maxPrinted {
		w.flush()
	}
	return len(data), nil
}

// flush shows a line that has no end.
func (w *lineWriter) flush() {
	if len(w.buf) > 0 {
		w.line(string(w.buf))
		w.buf = nil
	}
}
