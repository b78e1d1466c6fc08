package cards

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
)

// line is how a device reaches the hubs: one connection at a time, which breaks after some bytes of either direction. Safe for concurrent use.
type line struct {
	random *rand.Rand
	hubs   func() []string // addresses

	mu   sync.Mutex
	down int // bytes until the connection breaks; 0: it does not
	up   int
	cuts int
}

// The bytes after which a connection breaks, at most. Those of the request come first, about 250, and of the answer, about 130.
const (
	mostDown = 12000
	mostUp   = 700
)

// frail has the next connection break: mostly while the hub speaks, at times while the device does, and at times on the way in.
func (l *line) frail() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.up = 1+l.random.IntN(mostDown), 0
	if l.random.IntN(8) == 0 {
		l.up = 1 + l.random.IntN(mostUp)
	}
}

// sound has the next connection last.
func (l *line) sound() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.up = 0, 0
}

func (l *line) broken() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cuts
}

func (l *line) transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		l.mu.Lock()
		hubs := l.hubs()
		address := hubs[l.random.IntN(len(hubs))]
		c := &cable{line: l, down: quota{bytes: l.down}, up: quota{bytes: l.up}, abort: l.random.IntN(2) == 0}
		l.mu.Unlock()
		var err error
		c.Conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return c, err
	}}
}

// cable is one connection. The last bytes come, or go, and then nothing any more: in the middle of a frame as elsewhere.
type cable struct {
	net.Conn
	line     *line
	down, up quota
	abort    bool
	once     sync.Once
}

// quota is how many bytes go in one direction.
type quota struct {
	mu    sync.Mutex
	bytes int // 0: without end; -1: broken
}

var errCut = errors.New("the line is cut")

func (c *cable) Read(p []byte) (int, error) { return c.pass(&c.down, p, c.Conn.Read) }

func (c *cable) Write(p []byte) (int, error) {
	n, err := c.pass(&c.up, p, c.Conn.Write)
	if err == nil && n < len(p) {
		err = errCut
	}
	return n, err
}

// pass lets as many bytes through as are left.
func (c *cable) pass(l *quota, p []byte, through func([]byte) (int, error)) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.bytes < 0:
		return 0, errCut
	case l.bytes == 0:
		return through(p)
	}
	n, err := through(p[:min(len(p), l.bytes)])
	if l.bytes -= n; l.bytes == 0 {
		l.bytes = -1
		c.once.Do(c.cut)
	}
	return n, err
}

func (c *cable) cut() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.abort {
		tcp.SetLinger(0) //nolint:errcheck // a reset instead of an end
	}
	c.Close()
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	c.line.cuts++
}
