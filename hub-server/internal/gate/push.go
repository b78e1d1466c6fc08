package gate

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	takeWithin  = 15 * time.Second // a socket that takes nothing for this long is given up
	closeWithin = 1500 * time.Millisecond
	longWrite   = 100 * time.Millisecond // a write that takes this long has met a full socket
	tlsWrite    = 16 << 10               // bytes of one write over TLS: a record
)

// errTakesNothing ends a connection whose socket has taken nothing for takeWithin.
var errTakesNothing = errors.New("socket takes nothing")

// push writes until everything is written; what is left after an error is the rest. Whatever the socket takes gives it takeWithin for more.
func (g *gatherConn) push(out []byte) (rest []byte, err error) {
	for len(out) > 0 {
		start := time.Now()
		n, err := g.write(out)
		out = out[n:]
		took := time.Since(start)
		if took >= longWrite {
			g.full.Store(true)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), err == nil && took >= takeWithin:
			return out, errTakesNothing
		case err != nil:
			return out, fmt.Errorf("write to socket: %w", err)
		}
	}
	return nil, nil
}

// write is one write with its own deadline: of as much as the socket takes at once, as soon as it takes something. Where a write cannot stop in the
// middle it is a small one, and the deadline leaves time to say goodbye: over TLS a write that has missed it was the last one of the connection.
func (g *gatherConn) write(out []byte) (n int, err error) {
	if g.raw == nil {
		g.setDeadline(time.Now().Add(takeWithin + closeWithin))
		return g.Conn.Write(out[:min(len(out), tlsWrite)])
	}
	g.setDeadline(time.Now().Add(takeWithin))
	var refused error
	err = g.raw.Write(func(fd uintptr) bool {
		n, refused = writeSome(int(fd), out) //nolint:gosec // a descriptor
		return !errors.Is(refused, syscall.EAGAIN)
	})
	return max(n, 0), cmp.Or(err, refused)
}

// writeSome writes what a socket takes at once.
func writeSome(fd int, out []byte) (n int, err error) {
	for {
		if n, err = syscall.Write(fd, out); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

func (g *gatherConn) setDeadline(deadline time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.limit.IsZero() {
		deadline = g.limit
	}
	g.SetWriteDeadline(deadline) //nolint:errcheck // the write that follows fails then
}

// endDeadline lets others write again: Try, and TLS, which answers a change of keys by itself.
func (g *gatherConn) endDeadline() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit.IsZero() {
		g.SetWriteDeadline(time.Time{}) //nolint:errcheck // the next write fails then
	}
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

// finish is hurry for a connection that nobody serves any more: from now on each Write flushes.
func (g *gatherConn) finish() time.Time {
	g.mu.Lock()
	g.direct = true
	g.mu.Unlock()
	return g.hurry()
}

// busy says whether something has waited for the socket since the last ping, or since busy was asked: then a pong may still be on its way behind
// it. That the system took something shows nothing: it goes on doing so for a client that is gone.
func (g *gatherConn) busy() bool {
	full := g.full.Swap(false)
	return full || len(g.flushing) > 0 // takeWithin is its judge
}

// Close sends what is gathered, such as the library's answer to a close, in what is left of the time, and closes the socket.
func (g *gatherConn) Close() error {
	overdue := time.AfterFunc(time.Until(g.hurry()), g.cut)
	defer overdue.Stop()
	g.Flush() //nolint:errcheck // nobody is left to tell
	return g.Conn.Close()
}

// cut closes the socket without a word, even while TLS waits to say one.
func (g *gatherConn) cut() {
	under := g.Conn
	if g.beneath != nil {
		under = g.beneath
	}
	under.Close() //nolint:errcheck // gone either way
}
