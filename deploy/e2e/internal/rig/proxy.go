package rig

import (
	"io"
	"net"
	"slices"
	"sync"
)

// Proxy is a TCP relay that can misbehave on demand. Safe for concurrent use.
type Proxy struct {
	Addr string

	scheme string

	mu      sync.Mutex
	targets []string // new connections go to each in turn
	links   map[*link]bool
	down    bool          // new connections are closed at once
	gate    chan struct{} // closed while bytes may pass
	live    sync.WaitGroup
}

type link struct{ client, server net.Conn }

func (l *link) close() {
	l.client.Close() //nolint:errcheck // cut
	l.server.Close() //nolint:errcheck // cut
}

// NewProxy returns a further way to the hub, for who is to be cut off alone.
func (r *Rig) NewProxy() *Proxy {
	r.T.Helper()
	p := newProxy(r.T, r.addr)
	p.scheme = r.scheme()
	return p
}

func newProxy(t TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start proxy: %v", err)
	}
	p := &Proxy{Addr: l.Addr().String(), scheme: "http://", targets: []string{target}, links: map[*link]bool{}, gate: make(chan struct{})}
	close(p.gate)
	p.live.Go(func() { p.accept(l) })
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // end of the test
		p.Heal()
		p.Down()
		p.live.Wait()
	})
	return p
}

// URL is the proxy's address as a base URL.
func (p *Proxy) URL() string { return p.scheme + p.Addr }

// Retarget sends new connections elsewhere, as a load balancer does: with several addresses to each in turn, past those that refuse.
func (p *Proxy) Retarget(addrs ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets = addrs
}

// Cut closes every connection; new ones work.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Stall keeps all connections open but lets nothing pass, as a half-open link does.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

// Down closes every connection and refuses new ones.
func (p *Proxy) Down() {
	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	p.Cut()
}

// Heal ends Stall and Down.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

func (p *Proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := p.dial()
		if err != nil || !p.relay(&link{client, server}) {
			client.Close() //nolint:errcheck // refused
		}
	}
}

func (p *Proxy) relay(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		l.server.Close() //nolint:errcheck // refused
		return false
	}
	p.links[l] = true
	p.live.Go(func() { p.pump(l, l.server, l.client) })
	p.live.Go(func() { p.pump(l, l.client, l.server) })
	return true
}

// pump copies one direction. Bytes that were read before a stall wait for its end.
func (p *Proxy) pump(l *link, dst io.Writer, src io.Reader) {
	defer p.forget(l)
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			<-p.open()
			if _, werr := dst.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// dial connects to the next target that lets it.
func (p *Proxy) dial() (server net.Conn, err error) {
	for _, addr := range p.next() {
		if server, err = net.Dial("tcp", addr); err == nil {
			return server, nil
		}
	}
	return nil, err
}

// next returns all targets, each time another one first.
func (p *Proxy) next() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.targets = append(slices.Clone(p.targets[1:]), p.targets[0])
	return p.targets
}

func (p *Proxy) open() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gate
}

func (p *Proxy) forget(l *link) {
	l.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}
