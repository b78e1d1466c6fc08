package gate

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	flushAt     = 32 << 10         // gathered bytes that go to the socket without waiting for more
	takeWithin  = 15 * time.Second // a socket that takes nothing for this long is given up
	closeWithin = 1500 * time.Millisecond
)

// errTakesNothing ends a connection whose socket has taken nothing for takeWithin.
var errTakesNothing = errors.New("socket takes nothing")

// gatherConn is the network side of a connection: it gathers what the WebSocket library writes, frame by frame, so that many frames leave
// in one system call. Only Flush and Close touch the socket, so the library's writes do not block: neither a pong of the reader nor a
// frame of the writer. Write is safe for concurrent use; Flush is the writer's.
type gatherConn struct {
	net.Conn
	buffers *bufferPool
	waiting chan struct{} // has a value when something was written since the last Flush

	mu      sync.Mutex
	pending []byte    // whole frames
	limit   time.Time // when set, no write may last longer
	direct  bool      // near the end: Write flushes

	flushing chan struct{} // has a value while somebody writes to the socket
	took     atomic.Int64  // when the socket last took something, in Unix nanoseconds
}

func newGatherConn(c net.Conn, b *bufferPool) *gatherConn {
	return &gatherConn{Conn: c, buffers: b, waiting: make(chan struct{}, 1), flushing: make(chan struct{}, 1)}
}

// Write gathers; after finish it also flushes.
func (g *gatherConn) Write(p []byte) (int, error) {
	g.mu.Lock()
	if g.pending == nil {
		g.pending = g.buffers.get()
	}
	g.pending = append(g.pending, p...)
	direct := g.direct
	g.mu.Unlock()
	if direct {
		return len(p), g.Flush()
	}
	select {
	case g.waiting <- struct{}{}:
	default:
	}
	return len(p), nil
}

// gathered is how many bytes wait for Flush.
func (g *gatherConn) gathered() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.pending)
}

// Flush writes everything gathered to the socket. As long as the socket takes something, however slowly, Flush goes on.
func (g *gatherConn) Flush() error {
	g.flushing <- struct{}{}
	defer func() { <-g.flushing }()
	for {
		out := g.swap(nil)
		if len(out) == 0 {
			return nil
		}
		rest, err := g.push(out)
		if err != nil {
			g.swap(rest) // a later, last attempt may still complete the frame
			return err
		}
		g.buffers.put(out)
	}
}

// swap takes what is gathered and puts back in front what could not be written.
func (g *gatherConn) swap(rest []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rest != nil {
		g.pending = slices.Concat(rest, g.pending)
		return nil
	}
	out := g.pending
	g.pending = nil
	return out
}

func (g *gatherConn) push(out []byte) (rest []byte, err error) {
	for len(out) > 0 {
		g.setDeadline()
		n, err := g.Conn.Write(out)
		out = out[n:]
		if n > 0 {
			g.took.Store(time.Now().UnixNano())
		}
		late := errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case late && n > 0 && !g.hurried():
		case late:
			return out, errTakesNothing
		case err != nil:
			return out, fmt.Errorf("write to socket: %w", err)
		}
	}
	return nil, nil
}

func (g *gatherConn) setDeadline() {
	g.mu.Lock()
	defer g.mu.Unlock()
	deadline := time.Now().Add(takeWithin)
	if !g.limit.IsZero() {
		deadline = g.limit
	}
	g.SetWriteDeadline(deadline) //nolint:errcheck // the write that follows fails then
}

func (g *gatherConn) hurried() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.limit.IsZero()
}

// hurry gives everything that is still to be written, a write under way included, until the returned time.
func (g *gatherConn) hurry() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit.IsZero() {
		g.limit = time.Now().Add(closeWithin)
	}
	g.SetWriteDeadline(g.limit) //nolint:errcheck // the connection is at its end
	return g.limit
}

// finish is hurry for a connection whose writer has stopped: from now on each Write flushes.
func (g *gatherConn) finish() time.Time {
	g.mu.Lock()
	g.direct = true
	g.mu.Unlock()
	return g.hurry()
}

// busy says whether the socket took something recently or is about to: then a pong may still be on its way behind it.
func (g *gatherConn) busy(now time.Time) bool {
	if len(g.flushing) > 0 {
		return true // takeWithin is its judge
	}
	return now.Sub(time.Unix(0, g.took.Load())) < pongWithin
}

// Close sends what is gathered, such as the library's answer to a close, in what is left of the time, and closes the socket.
func (g *gatherConn) Close() error {
	g.hurry()
	g.Flush() //nolint:errcheck // nobody is left to tell
	return g.Conn.Close()
}
