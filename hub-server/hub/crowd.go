package hub

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
)

// Of the file descriptors of the process some are for the store, its readers and the bus; the others are for connections.
const (
	ownDescriptors = 64
	maxSurplus     = 32 // connections beyond that number which are open for as long as it takes to say no
	maxPlaces      = 1 << 20
)

// crowd bounds the connections that are open at once, so that clients, however many, never take the descriptors that the hub itself needs.
// Who comes when all places are taken is let in to be told so. Of those who are let in for that and say nothing, the first must go when
// more come. Safe for concurrent use.
type crowd struct {
	places int

	mu      sync.Mutex
	served  int
	surplus []*guest // the oldest first
}

func newCrowd(places int) *crowd { return &crowd{places: places} }

// placesOfProcess is how many connections the limits of this process leave room for.
func placesOfProcess() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxPlaces
	}
	return placesOf(limit.Cur)
}

// placesOf is never nothing: with few descriptors, a quarter of them.
func placesOf(descriptors uint64) int {
	if descriptors > maxPlaces {
		return maxPlaces
	}
	n := int(descriptors)
	return max(1, n/4, n-ownDescriptors-maxSurplus)
}

var errCrowded = errors.New("every connection that the file descriptors of this process allow is open")

// check is for /readyz.
func (c *crowd) check(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.served >= c.places {
		return errCrowded
	}
	return nil
}

// enter gives a connection a place, or makes it surplus. first is who must go for it, nil if nobody must.
func (c *crowd) enter(conn net.Conn) (g, first *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g = &guest{Conn: conn, crowd: c, surplus: c.served >= c.places}
	if !g.surplus {
		c.served++
		return g, nil
	}
	if len(c.surplus) >= maxSurplus {
		first = c.surplus[0]
	}
	c.surplus = append(c.surplus, g)
	return g, first
}

func (c *crowd) leave(g *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !g.surplus {
		c.served--
	} else if i := slices.Index(c.surplus, g); i >= 0 {
		c.surplus = slices.Delete(c.surplus, i, i+1)
	}
}

// around returns l with the bound.
func (c *crowd) around(l net.Listener) net.Listener { return crowdedListener{l, c} }

type crowdedListener struct {
	net.Listener
	crowd *crowd
}

// Accept implements net.Listener.
func (l crowdedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g, first := l.crowd.enter(conn)
	if first != nil {
		first.Close() //nolint:errcheck // it was of no use to anybody
	}
	return g, nil
}

// guest is a connection that gives its place back when it is closed.
type guest struct {
	net.Conn
	crowd   *crowd
	surplus bool // it came when all places were taken
	once    sync.Once
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.once.Do(func() { g.crowd.leave(g) })
	return g.Conn.Close()
}

// CloseWrite ends what is sent and goes on receiving. The HTTP server looks for it, to end an answer in a way that does not take the answer
// back while a request is still on its way.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SyscallConn lets the client sockets write without waiting. It is not there over TLS, which hides the guest.
func (g *guest) SyscallConn() (syscall.RawConn, error) {
	if bare, ok := g.Conn.(syscall.Conn); ok {
		return bare.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

type surplusKey struct{}

// mark notes in the context of a connection whether it is one too many.
func mark(ctx context.Context, conn net.Conn) context.Context {
	if g := guestOf(conn); g != nil && g.surplus {
		return context.WithValue(ctx, surplusKey{}, true)
	}
	return ctx
}

// guestOf finds the guest under a connection, which TLS has wrapped. It is nil if there is none.
func guestOf(conn net.Conn) *guest {
	for {
		switch c := conn.(type) {
		case *guest:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

func surplus(ctx context.Context) bool { return ctx.Value(surplusKey{}) != nil }
