package gate

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
)

// leanBuffer is the size in bytes of each of the library's buffers on a connection.
const leanBuffer = 256

// leanWriter hands the library a gatherConn with small buffers when it takes the connection over from the server.
type leanWriter struct {
	http.ResponseWriter
	buffers *bufferPool
	conn    *gatherConn // once hijacked
}

// Hijack implements http.Hijacker.
func (l *leanWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, rw, err := http.NewResponseController(l.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, err := rw.Peek(rw.Reader.Buffered()) // what a client sent without waiting for the answer
	if err != nil {
		return nil, nil, err
	}
	l.conn = newGatherConn(raw, l.buffers)
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), raw), max(leanBuffer, len(early)))
	if _, err := reader.Peek(len(early)); err != nil {
		return nil, nil, err
	}
	return l.conn, bufio.NewReadWriter(reader, bufio.NewWriterSize(l.conn, leanBuffer)), nil
}

// bufferPool lends gathering connections the bytes that they gather in, so that an idle one holds none.
type bufferPool struct{ pool sync.Pool }

const (
	newBuffer  = 8 << 10
	keptBuffer = 2 * flushAt // larger ones are for single large frames, smaller ones are what is left of others
)

func (b *bufferPool) get() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return (*buf)[:0]
	}
	return make([]byte, 0, newBuffer)
}

func (b *bufferPool) put(buf []byte) {
	if cap(buf) >= newBuffer && cap(buf) <= keptBuffer {
		b.pool.Put(&buf)
	}
}
