package uplink_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	credential = "sye_credential"
	ticket     = "a-one-time-ticket-of-the-bus"
)

// hub is a small one with a real NATS server: it commits whatever comes in order, and does what a test tells it.
type hub struct {
	t    *testing.T
	http *httptest.Server
	edge id.Edge
	menu *menu // of the edge that connects

	mu         sync.Mutex
	refusal    *fault.Fault  // answered to the next tunnels instead of opening them
	refuseLane *wire.Refused // said to the next hello instead of welcome
	rows       []event.Envelope
	chain      wire.Chain
	blobs      map[string][]byte
	receipts   []wire.CommandReceipt
	shown      []wire.Shown
	pongs      int
	tunnels    int
	cut        context.CancelFunc // ends the tunnel that is open
	say        func(subject.Verb, any)
	cutEvery   int // cut the tunnel before each n-th frame; 0 never
	frames     int
	offered    []string      // what the edge said that it can run, each time
	changed    chan struct{} // closed and replaced when anything above has changed
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{t: t, edge: id.NewEdge(), blobs: map[string][]byte{}, changed: make(chan struct{}), menu: &menu{}}
	h.menu.offer("parrot")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /edge/uplink", h.uplink)
	mux.HandleFunc("HEAD /edge/blobs/{sha256}", h.hasBlob)
	mux.HandleFunc("PUT /edge/blobs/{sha256}", h.putBlob)
	h.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		h.change(func() {
			if h.cut != nil {
				h.cut()
			}
		})
		h.http.Close()
	})
	return h
}

func (h *hub) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// wait blocks until is holds.
func (h *hub) wait(what string, is func() bool) {
	h.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		h.mu.Lock()
		done, changed := is(), h.changed
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			h.t.Fatalf("never happened: %s: %d rows %d tunnels %d frames", what, len(h.rows), h.tunnels, h.frames)
		}
	}
}

func (h *hub) authorised(w http.ResponseWriter, r *http.Request) bool {
	h.mu.Lock()
	refusal := h.refusal
	h.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+credential {
		refusal = fault.New(fault.Unauthenticated, "Wrong credential.")
	}
	if refusal == nil {
		return true
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusUnauthorized)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": string(refusal.Code), "detail": refusal.Detail})
	return false
}

func (h *hub) hasBlob(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	_, has := h.blobs[r.PathValue("sha256")]
	h.mu.Unlock()
	if !has {
		w.WriteHeader(http.StatusNotFound)
	}
}

func (h *hub) putBlob(w http.ResponseWriter, r *http.Request) {
	if !h.authorised(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.change(func() { h.blobs[r.PathValue("sha256")] = body })
	w.WriteHeader(http.StatusNoContent)
}

// uplink gives each tunnel a NATS server of its own, with the permissions that the real hub gives.
func (h *hub) uplink(w http.ResponseWriter, r *http.Request) {
	if !h.authorised(w, r) {
		return
	}
	conn := id.NewConnection()
	ns, err := server.NewServer(&server.Options{
		DontListen: true, NoSigs: true, NoLog: true, Users: []*server.User{
			{Username: "hub", Password: "hub"},
			{Username: string(h.edge), Password: ticket, Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{string(subject.AllUp(h.edge, conn))}},
				Subscribe: &server.SubjectPermission{Allow: []string{string(subject.AllDown(h.edge, conn))}},
			}},
		},
	})
	if err != nil {
		h.t.Error(err)
		return
	}
	ns.Start()
	defer ns.WaitForShutdown()
	defer ns.Shutdown()
	own, err := nats.Connect("", nats.InProcessServer(ns), nats.UserInfo("hub", "hub"))
	if err != nil {
		h.t.Error(err)
		return
	}
	defer own.Close()
	l := &lane{hub: h, say: func(v subject.Verb, body any) {
		data, err := json.Marshal(body)
		if err == nil {
			err = own.Publish(string(subject.Down(h.edge, conn, v)), data)
		}
		if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			h.t.Error(err)
		}
	}}
	if _, err := own.Subscribe(string(subject.AllUp(h.edge, conn)), l.hear); err != nil {
		h.t.Error(err)
	}
	if err := own.Flush(); err != nil {
		h.t.Error(err)
	}
	w.Header().Set("Switchyard-Connection", string(conn))
	w.Header().Set("Switchyard-Bus-Ticket", ticket)
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		h.t.Error(err)
		return
	}
	defer socket.CloseNow() //nolint:errcheck // the end of a test's tunnel
	ctx, cancel := context.WithCancel(context.Background())
	h.change(func() { h.tunnels++; h.cut = cancel; h.say = l.say })
	bus, err := ns.InProcessConn()
	if err != nil {
		h.t.Error(err)
		return
	}
	pipe(ctx, websocket.NetConn(ctx, socket, websocket.MessageBinary), bus)
}

// pipe copies both ways until either side or ctx ends.
func pipe(ctx context.Context, a, b net.Conn) {
	group := supervise.NewGroup(ctx)
	for _, ends := range [][2]net.Conn{{a, b}, {b, a}} {
		group.Go(func(context.Context) error {
			_, err := io.Copy(ends[0], ends[1])
			return errors.Join(err, io.EOF) // the first end cancels the other
		})
	}
	group.Go(func(ctx context.Context) error {
		<-ctx.Done()
		return errors.Join(a.Close(), b.Close())
	})
	_ = group.Wait() // it always ends with the end of one side
}

// lane is the hub's end of one connection.
type lane struct {
	hub *hub
	say func(subject.Verb, any)

	incarnation wire.Incarnation // of the hello
	cut         bool
}

func (l *lane) hear(m *nats.Msg) {
	h := l.hub
	h.change(func() {
		switch subject.VerbOf(m.Subject) {
		case subject.Hello:
			l.hello(m.Data)
		case subject.Frame:
			l.frame(m.Data)
		case subject.Capabilities:
			var c wire.Capabilities
			if err := json.Unmarshal(m.Data, &c); err != nil {
				h.t.Error(err)
			}
			h.offered = append(h.offered, names(c.Profiles))
		case subject.Shown:
			var s wire.Shown
			if err := json.Unmarshal(m.Data, &s); err != nil {
				h.t.Error(err)
			}
			h.shown = append(h.shown, s)
		case subject.Pong:
			h.pongs++
		case subject.Receipt:
			var r wire.CommandReceipt
			if err := json.Unmarshal(m.Data, &r); err != nil {
				h.t.Error(err)
			}
			h.receipts = append(h.receipts, r)
		}
	})
}

func (l *lane) hello(data []byte) {
	h := l.hub
	var hello wire.Hello
	if err := json.Unmarshal(data, &hello); err != nil || hello.Protocol != wire.Protocol {
		h.t.Errorf("hello %s: %v", data, err)
	}
	if !hello.Shows {
		h.t.Error("the edge does not say that it can be asked")
	}
	l.incarnation = hello.Incarnation
	h.offered = append(h.offered, names(hello.Profiles))
	if h.refuseLane != nil {
		l.say(subject.Refused, *h.refuseLane)
		return
	}
	l.say(subject.Welcome, wire.Welcome{
		Incarnation: hello.Incarnation, Watermark: wire.ProducerSeq(len(h.rows)), Chain: h.chain, Credit: 64 << 10, Generation: 1, MaxFrame: 4 << 10,
	})
}

func (l *lane) frame(data []byte) {
	h := l.hub
	if l.cut {
		return // on its way when the tunnel was cut
	}
	h.frames++
	if l.cut = h.cutEvery > 0 && h.frames%h.cutEvery == 0; l.cut {
		h.cut()
		return
	}
	f, err := wire.DecodeFrame(data)
	if err != nil {
		h.t.Error(err)
		return
	}
	for i, row := range f.Rows {
		if f.First+wire.ProducerSeq(i) != wire.ProducerSeq(len(h.rows)+1) {
			continue // a repeat; a gap shows in what the test compares
		}
		e, err := event.ParseRow(row)
		if err != nil {
			h.t.Error(err)
		}
		h.rows = append(h.rows, e)
		h.chain = h.chain.Next(row)
	}
	l.say(subject.Committed, wire.CommittedTo{Credit: 64 << 10, Receipt: wire.CommitReceipt{
		Incarnation: l.incarnation, Seq: wire.ProducerSeq(len(h.rows)), Chain: h.chain, Signature: strings.Repeat("0", 64),
	}})
}
