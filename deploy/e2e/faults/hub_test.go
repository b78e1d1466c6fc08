package faults

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// hub speaks the hub's side of the uplink for one edge: it takes every row that comes in order, and sends each command on every connection
// until it has its receipt. Safe for concurrent use.
type hub struct {
	t    *testing.T
	http *httptest.Server
	edge id.Edge

	mu        sync.Mutex
	lanes     map[wire.Incarnation]*lane
	orders    []wire.Command
	receipts  map[id.Delivery]wire.Status
	refusals  map[id.Delivery]fault.Code
	sent      int
	terminals map[id.Run][]event.Type
	welcomed  int // edges that said hello
	conn      *conn
	changed   chan struct{} // closed and replaced when anything above has changed
}

// conn is the hub's end of the connection that is open.
type conn struct {
	say         func(subject.Verb, any)
	incarnation wire.Incarnation
	queue       []wire.Command // to be sent
	unanswered  int            // sent
}

// lane is how far the rows of one incarnation have come.
type lane struct {
	watermark wire.ProducerSeq
	chain     wire.Chain
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{
		t: t, edge: id.NewEdge(), lanes: map[wire.Incarnation]*lane{}, receipts: map[id.Delivery]wire.Status{}, refusals: map[id.Delivery]fault.Code{},
		terminals: map[id.Run][]event.Type{}, changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /edge/uplink", h.tunnel)
	h.http = httptest.NewServer(mux)
	t.Cleanup(h.http.Close) // after the edge has ended, and its tunnel with it
	return h
}

func (h *hub) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// until blocks until is holds. It is called with the hub's lock held.
func (h *hub) until(what string, is func() bool) {
	h.t.Helper()
	limit := time.After(rig.Patience)
	for {
		h.mu.Lock()
		done, changed := is(), h.changed
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			h.mu.Lock()
			defer h.mu.Unlock()
			h.t.Fatalf("never happened: %s: %d runs have ended, %d of %d commands are answered, %d were sent",
				what, len(h.terminals), len(h.receipts), len(h.orders), h.sent)
		}
	}
}

// order sends commands, now if the edge is there and on every connection until they are answered.
func (h *hub) order(commands ...wire.Command) {
	h.change(func() {
		h.orders = append(h.orders, commands...)
		h.deliver(commands)
	})
}

// orderAgain sends everything that was ever ordered, answered or not.
func (h *hub) orderAgain() { h.change(func() { h.deliver(h.orders) }) }

// maxUnanswered is how many commands the edge has to answer at once: it gives up a connection on which too many wait.
const maxUnanswered = 64

// deliver sends commands as fast as they are answered. Without a connection they wait for the next.
func (h *hub) deliver(commands []wire.Command) {
	c := h.conn
	if c == nil {
		return
	}
	c.queue = append(c.queue, commands...)
	for ; len(c.queue) > 0 && c.unanswered < maxUnanswered; c.unanswered++ {
		h.sent++
		c.say(subject.Command, c.queue[0])
		c.queue = c.queue[1:]
	}
}

// idle says whether every command is answered and every run has ended. It is called with the hub's lock held.
func (h *hub) idle() bool {
	for _, c := range h.orders {
		if h.receipts[c.DeliveryID] == "" || len(h.terminals[c.RunID]) == 0 {
			return false
		}
	}
	return h.conn != nil && h.conn.unanswered == 0
}

// hear takes a message of the edge.
func (h *hub) hear(c *conn, verb subject.Verb, data []byte) {
	h.change(func() {
		switch verb {
		case subject.Hello:
			c.incarnation = read[wire.Hello](h.t, data).Incarnation
			h.welcome(c)
		case subject.Frame:
			h.frame(c, data)
		case subject.Receipt:
			r := read[wire.CommandReceipt](h.t, data)
			h.receipts[r.DeliveryID], h.refusals[r.DeliveryID] = r.Status, r.Code
			c.unanswered--
			h.deliver(nil)
		}
	})
}

func (h *hub) welcome(c *conn) {
	l := h.lanes[c.incarnation]
	if l == nil {
		l = &lane{}
		h.lanes[c.incarnation] = l
	}
	c.say(subject.Welcome, wire.Welcome{Incarnation: c.incarnation, Watermark: l.watermark, Chain: l.chain, Credit: credit, Generation: 1, MaxFrame: maxFrame})
	h.conn = c
	h.welcomed++
	var open []wire.Command
	for _, order := range h.orders {
		if h.receipts[order.DeliveryID] == "" {
			open = append(open, order)
		}
	}
	h.deliver(open)
}

// What the edge may send at once, in bytes.
const (
	credit   = 1 << 20
	maxFrame = 64 << 10
)

func (h *hub) frame(c *conn, data []byte) {
	f, err := wire.DecodeFrame(data)
	l := h.lanes[c.incarnation]
	if err != nil || l == nil {
		h.t.Errorf("frame of %q: %v", c.incarnation, err)
		return
	}
	for i, row := range f.Rows {
		if f.First+wire.ProducerSeq(i) != l.watermark+1 {
			continue // a repeat; a gap would stop the lane and the test with it
		}
		e, err := event.ParseRow(row)
		if err != nil {
			h.t.Errorf("row %d: %v", l.watermark+1, err)
		}
		l.watermark++
		l.chain = l.chain.Next(row)
		if stored := event.Stored(e.Type, e.Payload); stored.Terminal() {
			h.terminals[e.Scope.RunID] = append(h.terminals[e.Scope.RunID], stored)
		}
	}
	c.say(subject.Committed, wire.CommittedTo{Credit: credit, Receipt: wire.CommitReceipt{
		Incarnation: c.incarnation, Seq: l.watermark, Chain: l.chain, Signature: unsigned,
	}})
}

// unsigned stands for the hub's signature, which nobody but a hub reads.
const unsigned = "0000000000000000000000000000000000000000000000000000000000000000"

func read[T any](t *testing.T, data []byte) (v T) {
	if err := json.Unmarshal(data, &v); err != nil {
		t.Errorf("the edge said %s: %v", data, err)
	}
	return v
}

func (h *hub) hellos() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.welcomed
}
