package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The figures of promise P14. With the race detector a fifth of the sockets is as much work.
const (
	crowdSize    = 500 / raceFactor
	crowdStalled = crowdSize / 10
	crowdEvery   = 50 * time.Millisecond // between rows to all
	stallHolds   = 1 << 20               // bytes that a stalled socket may cost
	stallLasts   = 20 * time.Second
	stallSlows   = 1.5
	stallJitter  = 100 * time.Millisecond // of a machine that does other things too
)

// crowd is many devices of one conversation, some of which are going to stop reading.
type crowd struct {
	*hub
	session id.Session // of all
	flood   id.Session // of those that stall
	members []*crowdMember

	mu   sync.Mutex
	sent []time.Time // when row n was committed
}

type crowdMember struct {
	crowd  *crowd
	user   id.User
	socket *rawClient
	stall  chan struct{}   // closed when it is to stop reading
	taken  []time.Duration // how old each row was; guarded by the crowd's lock
}

// smallBuffers lets the kernel hold little for a socket that takes nothing.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetWriteBuffer(8 << 10)
	}
	return c, err
}

// gatherCrowd connects n members; the first few of them are also in the conversation that is flooded.
func gatherCrowd(t *testing.T, n, stalled int, change ...func(*Gate)) *crowd {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.change = change
	c := &crowd{hub: w.hub(smallBuffers{listener}), session: id.NewSession(), flood: id.NewSession()}
	for i := range n {
		token, who := c.world.login(id.NewUser())
		rows := []delivery.Row{member(c.session, who.User, delivery.Joined)}
		if i < stalled {
			rows = append(rows, member(c.flood, who.User, delivery.Joined))
		}
		c.world.commit(rows...)
		socket, err := c.dialRaw(token)
		if err != nil {
			t.Fatal(err)
		}
		c.members = append(c.members, &crowdMember{crowd: c, user: who.User, socket: socket, stall: make(chan struct{})})
	}
	return c
}

// say commits a row to all every crowdEvery for so long.
func (c *crowd) say(span time.Duration) {
	tick := time.NewTicker(crowdEvery)
	defer tick.Stop()
	for range int(span / crowdEvery) {
		<-tick.C
		row := c.row(c.session, len(c.sent), 1<<10)
		c.mu.Lock()
		c.sent = append(c.sent, time.Now())
		c.mu.Unlock()
		c.world.commit(row)
	}
}

func (c *crowd) row(to id.Session, n, fill int) delivery.Row {
	row := note(delivery.ToSession(to), n)
	row.Payload = fmt.Appendf(nil, `{"session_id":%q,"changes":{"n":%d,"fill":"%s"}}`, to, n, bytes.Repeat([]byte{'x'}, fill))
	return row
}

// read notes how old each row of the conversation is, until row last, or the order to stall.
func (m *crowdMember) read(last int) error {
	for {
		select {
		case <-m.stall:
			return nil
		default:
		}
		f, err := m.socket.message()
		if err != nil {
			return err
		}
		var p struct {
			Session id.Session `json:"session_id"`
			Changes struct {
				N int `json:"n"`
			} `json:"changes"`
		}
		if err := json.Unmarshal(f.Payload, &p); err != nil {
			return err
		}
		if f.Type != SessionInfoUpdated || p.Session != m.crowd.session {
			continue
		}
		n := p.Changes.N
		if n != len(m.taken) {
			return fmt.Errorf("row %d came where %d was due", n, len(m.taken))
		}
		m.crowd.mu.Lock()
		m.taken = append(m.taken, time.Since(m.crowd.sent[n]))
		m.crowd.mu.Unlock()
		if len(m.taken) > last {
			return nil
		}
	}
}

// age is how old row n was when the member got it; so far, if it has not come.
func (m *crowdMember) age(n int) time.Duration {
	m.crowd.mu.Lock()
	defer m.crowd.mu.Unlock()
	if n < len(m.taken) {
		return m.taken[n]
	}
	return time.Since(m.crowd.sent[n])
}

// p99 is what 99 of 100 deliveries of each second took at most, in the middle one of the seconds: one hiccup of the machine is no trend.
func p99(members []*crowdMember, from, to int) time.Duration {
	const second = int(time.Second / crowdEvery)
	var seconds []time.Duration
	for ; from+second <= to; from += second {
		var all []time.Duration
		for _, m := range members {
			for n := range second {
				all = append(all, m.age(from+n))
			}
		}
		slices.Sort(all)
		seconds = append(seconds, all[len(all)*99/100])
	}
	slices.Sort(seconds)
	return seconds[len(seconds)/2]
}

// One of ten sockets in a crowd stops reading while rows come to all of them, and much to those that stopped: each costs a bounded queue, all are
// closed within 20 s, and nobody else notices (P14).
func TestSlowClientsCostNobodyElseAnything(t *testing.T) {
	c := gatherCrowd(t, crowdSize, crowdStalled)
	slow, quick := c.members[:crowdStalled], c.members[crowdStalled:]
	calm, stormy, missing := c.storm(t, slow, quick, 5*time.Second, stallLasts, func() { c.seeClosed(t, slow) })
	if missing > 0 {
		t.Errorf("%d of the others did not get everything", missing)
	}
	t.Logf("figure: P14: %d of %d sockets stop reading; p99 of the others %v, before %v", crowdStalled, crowdSize, stormy, calm)
	if limit := limitOf(calm); stormy > limit {
		t.Errorf("the others' p99 is %v, want at most %v", stormy, limit)
	}
}

// seeClosed waits for a moment until the hub has closed them all: a busy machine may fill them late. Fake time is stricter
// (TestASocketThatTakesNothingIsClosedWithinTwentySeconds).
func (c *crowd) seeClosed(t *testing.T, slow []*crowdMember) {
	t.Helper()
	deadline := time.After(5 * time.Second)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for slices.ContainsFunc(slow, func(m *crowdMember) bool { return c.conns.has(m.user) }) {
		select {
		case <-look.C:
		case <-deadline:
			t.Error("a stalled socket is still open")
			return
		}
	}
}

func limitOf(calm time.Duration) time.Duration {
	return time.Duration(stallSlows*float64(calm)) + stallJitter
}

// The positive control: shards that wait for a socket themselves are seen to hold everybody up.
func TestShardsThatWaitForASlowSocketAreSeenToSlowTheOthers(t *testing.T) {
	const some, stalled = 40, 6
	c := gatherCrowd(t, some, stalled, func(g *Gate) {
		for _, s := range g.shards {
			s.depart = func(c *conn, wait func() error) { c.serveAway(wait) }
		}
	})
	calm, stormy, _ := c.storm(t, c.members[:stalled], c.members[stalled:], 2*time.Second, 3*time.Second, func() {})
	t.Logf("p99 of the others %v, before %v", stormy, calm)
	if stormy <= limitOf(calm) {
		t.Error("nobody is seen to wait: the test of this promise proves nothing")
	}
}

// storm says something to all for a while, has some stall, floods those, goes on, and calls then before it hangs up. It returns the others' p99
// before and after and how many of them have not got everything soon after the end, and fails when a stalled socket costs too much.
func (c *crowd) storm(t *testing.T, slow, quick []*crowdMember, before, after time.Duration, then func()) (calm, stormy time.Duration, missing int) {
	t.Helper()
	var reading, flooding sync.WaitGroup
	finished := make(chan struct{}, len(quick))
	rows := int(before/crowdEvery) + int(after/crowdEvery)
	for _, m := range slow {
		reading.Go(func() { m.read(rows - 1) }) // until it stalls, or is closed
	}
	for _, m := range quick {
		reading.Go(func() {
			if m.read(rows-1) == nil {
				finished <- struct{}{}
			}
		})
	}
	c.say(before)
	calmMemory := liveBytes()
	for _, m := range slow {
		close(m.stall)
	}
	flooding.Go(func() {
		for n := range 100 {
			c.world.commit(c.row(c.flood, n, 40<<10))
		}
	})
	c.say(after / 2)
	flooding.Wait()
	if each := (liveBytes() - calmMemory) / len(slow); each > stallHolds {
		t.Errorf("a stalled socket costs %d KiB, want at most %d", each>>10, stallHolds>>10)
	}
	if queued := gauge(t, c.hub, "hub_delivery_queue_bytes"); queued > len(slow)*stallHolds {
		t.Errorf("%d KiB are queued", queued>>10)
	}
	c.say(after - after/2)
	missing = len(quick)
	for patience := time.After(5 * time.Second); missing > 0; {
		select {
		case <-finished:
			missing--
			continue
		case <-patience:
		}
		break
	}
	then()
	turn := int(before / crowdEvery)
	calm, stormy = p99(quick, 0, turn), p99(quick, turn, rows)
	for _, m := range c.members {
		m.socket.Close()
	}
	reading.Wait()
	return calm, stormy, missing
}

// liveBytes is how much of the heap is in use.
func liveBytes() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func gauge(t *testing.T, h *hub, name string) int {
	t.Helper()
	for line := range strings.Lines(scrape(h)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(v)
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
