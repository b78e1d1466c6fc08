package faults

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// weather is the network of one device: connections go to one of several hubs by chance, and are stalled and cut. Safe for concurrent use.
type weather struct {
	hubs      []string // host and port
	transport *http.Transport

	mu     sync.Mutex
	random *rand.Rand
	links  map[net.Conn]bool
	calm   chan struct{} // closed while bytes may pass
}

func newWeather(seed uint64, hubs []string) *weather {
	w := &weather{hubs: hubs, random: rand.New(rand.NewPCG(seed, 1)), links: map[net.Conn]bool{}, calm: make(chan struct{})}
	close(w.calm)
	w.transport = &http.Transport{DialContext: w.dial}
	return w
}

// dial reaches a hub, whatever address the device believes in.
func (w *weather) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	w.mu.Lock()
	hub := w.hubs[w.random.IntN(len(w.hubs))]
	w.mu.Unlock()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, hub)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links[conn] = true
	return &link{Conn: conn, w: w, closed: make(chan struct{})}, nil
}

// link is a connection in the weather. While it is stalled nothing is read: what the hub sends fills the machine's buffers.
type link struct {
	net.Conn
	w      *weather
	once   sync.Once
	closed chan struct{} // by the device
}

func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.w.mu.Lock()
	calm := l.w.calm
	l.w.mu.Unlock()
	select {
	case <-calm:
	case <-l.closed:
	}
	return n, err
}

func (l *link) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.w.mu.Lock()
	delete(l.w.links, l.Conn)
	l.w.mu.Unlock()
	return l.Conn.Close()
}

// stall lets nothing pass any more.
func (w *weather) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = make(chan struct{})
}

// heal ends stall.
func (w *weather) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.calm:
	default:
		close(w.calm)
	}
}

// cut ends all connections, as seen from both ends.
func (w *weather) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.links {
		conn.Close() //nolint:errcheck // cut
	}
}

// Figures of the weather.
const (
	fairFrom, fairTo       = 200 * time.Millisecond, 8 * time.Second // between two troubles
	stalledFrom, stalledTo = 50 * time.Millisecond, 3 * time.Second
	stormEvery             = 40 // of so many stalls one lasts until the hub gives the device up
	storm                  = 17 * time.Second
)

// rage stalls and cuts until ctx ends, and returns how often it did each.
func (w *weather) rage(ctx context.Context, seed uint64) (stalls, cuts int) {
	random := rand.New(rand.NewPCG(seed, 2))
	defer w.heal()
	for pauseFor(ctx, moment(random, fairFrom, fairTo)) {
		if random.IntN(2) == 0 {
			w.cut()
			cuts++
			continue
		}
		lasts := moment(random, stalledFrom, stalledTo)
		if random.IntN(stormEvery) == 0 {
			lasts = storm
		}
		w.stall()
		stalls++
		pauseFor(ctx, lasts)
		w.heal()
	}
	return stalls, cuts
}

// moment is a time between two others.
func moment(random *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(random.Int64N(int64(to-from)))
}

// pauseFor lets time pass; false says that ctx has ended.
func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
