package gate

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

const flushAt = 32 << 10 // gathered bytes that go to the socket without waiting for more

// gatherConn is the network side of a connection: it gathers whole frames, so that many of them leave in one system call. Data frames and
// pings are ours; the WebSocket library writes the other control frames through Write, each in one call. Only Try, Flush and Close touch the
// socket, and only one at a time, so neither a pong of the reader nor a frame of ours waits for it. Safe for concurrent use.
type gatherConn struct {
	net.Conn
	raw     syscall.RawConn // for writes that do not wait; nil over TLS, where a write cannot stop in the middle
	beneath net.Conn        // what carries TLS; nil without
	buffers *bufferPool
	wake    func() // called when the library has gathered something; set before the first frame

	mu      sync.Mutex
	pending []byte    // whole frames, but for the first, which may have begun
	limit   time.Time // when set, no write may last longer
	direct  bool      // near the end: Write flushes
	closing bool      // a close frame is gathered: no data frame may follow it

	flushing chan struct{} // has a value while somebody writes to the socket
	full     atomic.Bool   // the socket did not take something at once since the last ping, or since busy was asked
}

func newGatherConn(c net.Conn, b *bufferPool) *gatherConn {
	g := &gatherConn{Conn: c, buffers: b, flushing: make(chan struct{}, 1)}
	if bare, ok := c.(syscall.Conn); ok {
		if raw, err := bare.SyscallConn(); err == nil {
			g.raw = raw
		}
	}
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		g.beneath = secure.NetConn()
	}
	return g
}

// Write takes a control frame of the library and gathers it; after finish it also flushes.
func (g *gatherConn) Write(p []byte) (int, error) {
	g.mu.Lock()
	g.room()
	g.pending = append(g.pending, p...)
	g.closing = g.closing || len(p) > 0 && p[0]&opcodeBits == closeOpcode
	direct := g.direct
	g.mu.Unlock()
	if direct {
		return len(p), g.Flush()
	}
	g.wake()
	return len(p), nil
}

// add gathers frames, the first with the number after seq, and says how many bytes wait now. Behind a close frame it gathers nothing: the
// connection is over.
func (g *gatherConn) add(seq uint64, frames ...delivery.Frame) (gathered int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return 0
	}
	size := 0
	for _, f := range frames {
		size += f.Size() + maxHeader
	}
	g.room()
	g.pending = slices.Grow(g.pending, size)
	for _, f := range frames {
		seq++
		g.pending = appendFrame(g.pending, f, seq)
	}
	return len(g.pending)
}

// text gathers one text message and says how many bytes wait now; behind a close frame it gathers nothing.
func (g *gatherConn) text(message []byte) (gathered int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return 0
	}
	g.room()
	g.pending = append(appendHeader(slices.Grow(g.pending, len(message)+maxHeader), finText, len(message)), message...)
	return len(g.pending)
}

// ping gathers a ping with a payload of at most 125 bytes.
func (g *gatherConn) ping(payload []byte) {
	g.full.Store(false)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closing {
		g.room()
		g.pending = append(appendHeader(g.pending, finPing, len(payload)), payload...)
	}
}

// room sees to it that there is something to gather in. The lock is held.
func (g *gatherConn) room() {
	if g.pending == nil {
		g.pending = g.buffers.get()
	}
}

// Try writes what is gathered as far as the socket takes it at once. False means that something is left, for Flush.
func (g *gatherConn) Try() bool {
	select {
	case g.flushing <- struct{}{}:
	default:
		return true // the library closes the connection; there is nothing more to say
	}
	defer func() { <-g.flushing }()
	out := g.swap(nil)
	if len(out) == 0 {
		return true
	}
	n := g.offer(out)
	if n < len(out) {
		g.swap(out[n:])
		return false
	}
	g.buffers.put(out)
	return true
}

// offer is one write that does not wait, and says how much the socket took. An error is met again by Flush.
func (g *gatherConn) offer(out []byte) (n int) {
	if g.raw == nil {
		return 0
	}
	g.raw.Write(func(fd uintptr) bool { //nolint:errcheck // as above
		n, _ = writeSome(int(fd), out) //nolint:gosec // a descriptor
		return true
	})
	n = max(n, 0)
	if n < len(out) {
		g.full.Store(true)
	}
	return n
}

// Flush writes everything gathered to the socket. As long as the socket takes something, however slowly, Flush goes on.
func (g *gatherConn) Flush() error {
	g.flushing <- struct{}{}
	defer func() { <-g.flushing }()
	for {
		out := g.swap(nil)
		if len(out) == 0 {
			g.endDeadline()
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
	switch {
	case rest != nil && len(g.pending) == 0:
		g.pending = rest
		return nil
	case rest != nil:
		g.pending = slices.Concat(rest, g.pending)
		return nil
	}
	out := g.pending
	g.pending = nil
	return out
}
