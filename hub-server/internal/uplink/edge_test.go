package uplink_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/natsbus"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what should take milliseconds.
const patience = 15 * time.Second

// domain stands for everything behind the uplink: it knows one edge by its credential and commits by counting.
type domain struct {
	edge id.Edge

	mu        sync.Mutex
	watermark wire.ProducerSeq
	chain     wire.Chain
	rows      []string
	commands  []wire.Command
	receipts  chan wire.CommandReceipt
	refused   chan fault.Code
	standing  fleet.Edge // as the store has it
	here      int
	fence     uint64 // in force
	announced wire.Hello
	released  []string // profiles of the edge, each time that waiting work was handed out
	early     bool     // here before it was announced what it can run
	needBlob  string
	strange   id.Run        // a run that the store does not know and row "strange" names
	shown     []wire.Shown  // what the edge showed
	pause     time.Duration // that each commit takes
}

const credential = "sye_right"

func (d *domain) Authenticate(_ context.Context, c string) (fleet.Edge, error) {
	if c != credential {
		return fleet.Edge{}, fault.New(fault.Unauthenticated, "unknown credential")
	}
	return fleet.Edge{ID: d.edge}, nil
}

func (d *domain) Seen(context.Context, id.Edge) error { return nil }

func (d *domain) Standing(context.Context, id.Edge) (fleet.Edge, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.standing, nil
}

func (d *domain) Refuse(_ context.Context, _ id.Edge, c fault.Code) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.standing.Refused = c
	d.refused <- c
	return nil
}

// revoke removes the edge in the store alone.
func (d *domain) revoke() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.standing.RevokedAt = time.Now()
}

func (d *domain) Announce(_ context.Context, _ id.Edge, hello wire.Hello) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.early = d.here > 0
	d.announced, d.standing.Refused = hello, ""
	return nil
}

func (d *domain) AnnounceAgain(ctx context.Context, e id.Edge, hello wire.Hello, fence uint64) error {
	d.mu.Lock()
	held := fence == d.fence
	d.mu.Unlock()
	if !held {
		return fleet.ErrFenced
	}
	return d.Announce(ctx, e, hello)
}

func (d *domain) DispatchWaiting(context.Context, id.Edge) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for _, p := range d.announced.Profiles {
		names = append(names, p.Name)
	}
	d.released = append(d.released, strings.Join(names, " "))
	return nil
}

func (d *domain) Open(_ context.Context, edge id.Edge, hello wire.Hello) (runlog.LaneState, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return runlog.LaneState{Edge: edge, Incarnation: hello.Incarnation, Watermark: d.watermark, Chain: d.chain, Epoch: "e"}, nil
}

func (d *domain) Holder(context.Context, id.Edge) (runlog.Holder, error) {
	return runlog.Holder{}, nil
}

func (d *domain) Commit(_ context.Context, f runlog.LaneFrame) (runlog.LaneResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	time.Sleep(d.pause)
	if d.needBlob != "" {
		return runlog.LaneResult{NeedBlob: runlog.BlobHash(d.needBlob)}, nil
	}
	for _, row := range f.Rows {
		if string(row.Raw) == "strange" && f.Asked != nil && !f.Asked[d.strange] {
			return runlog.LaneResult{Watermark: d.watermark, Chain: d.chain, Strange: []id.Run{d.strange}}, nil
		}
	}
	for _, row := range f.Rows {
		if row.Seq > d.watermark {
			d.watermark = row.Seq
			d.rows = append(d.rows, string(row.Raw))
			d.chain = d.chain.Next(row.Raw)
		}
	}
	return runlog.LaneResult{Watermark: d.watermark, Chain: d.chain, Receipt: wire.CommitReceipt{Seq: d.watermark, Chain: d.chain}}, nil
}

func (d *domain) Recreate(_ context.Context, _ id.Edge, s wire.Shown) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown = append(d.shown, s)
	return nil
}

func (d *domain) Receipt(_ context.Context, _ id.Edge, r wire.CommandReceipt) error {
	d.mu.Lock()
	d.commands = nil
	d.mu.Unlock()
	d.receipts <- r
	return nil
}

func (d *domain) PendingCommands(context.Context, id.Edge) ([]wire.Command, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.commands, nil
}

func (d *domain) Arrived(id.Edge)  { d.count(+1) }
func (d *domain) Departed(id.Edge) { d.count(-1) }

func (d *domain) count(by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.here += by
}

// harness is a handler behind a real HTTP server and a real bus.
type harness struct {
	*domain
	handler *uplink.Handler
	url     string
	log     *slog.Logger
}

func newHarness(t *testing.T, adjust ...func(*uplink.Deps)) *harness {
	t.Helper()
	d := &domain{edge: id.NewEdge(), receipts: make(chan wire.CommandReceipt, 8), refused: make(chan fault.Code, 8)}
	log := slog.New(slog.DiscardHandler)
	server, err := natsbus.NewServer(log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	bus, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	deps := uplink.Deps{
		Log: log, Bus: joined{server, bus}, Edges: d, Lanes: d, Runs: d, Presence: d, Others: nobodyElse{},
		Problem: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		},
		Metrics: uplink.NewMetrics(telemetry.NewRegistry("test")),
	}
	for _, a := range adjust {
		a(&deps)
	}
	h := uplink.NewHandler(deps)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return &harness{domain: d, handler: h, url: web.URL, log: log}
}

// joined is what the hub gives to uplink: the embedded server and the hub's connection to it.
type joined struct {
	*natsbus.Server
	bus *natsbus.Bus
}

func (j joined) Publish(s subject.Subject, data []byte) error { return j.bus.Publish(s, data) }

func (j joined) Listen(ctx context.Context, p subject.Pattern, h func(subject.Subject, []byte)) (func(), error) {
	return j.bus.Listen(ctx, p, h)
}

// edge is a machine as the wire describes it, written anew here so that the two ends check each other.
type edge struct {
	t    *testing.T
	id   id.Edge
	conn id.Connection
	nc   *nats.Conn
	down chan *nats.Msg
	gone chan struct{}
	boot wire.BootNonce
}

func (h *harness) dial(t *testing.T, boot wire.BootNonce) *edge {
	t.Helper()
	socket, resp, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(h.url, "http"),
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + credential}}})
	if err != nil {
		t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	ctx, cancel := context.WithCancel(context.Background())
	e := &edge{
		t: t, id: h.edge, conn: id.Connection(resp.Header.Get(uplink.HeaderConnection)), boot: boot,
		down: make(chan *nats.Msg, 256), gone: make(chan struct{}),
	}
	e.nc, err = nats.Connect(nats.DefaultURL, nats.NoReconnect(), nats.UserInfo(string(h.edge), resp.Header.Get(uplink.HeaderTicket)),
		nats.SetCustomDialer(dialled{websocket.NetConn(ctx, socket, websocket.MessageBinary)}),
		nats.ClosedHandler(func(*nats.Conn) { close(e.gone) }))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.nc.Close()
		<-e.gone
		cancel()
		socket.CloseNow() //nolint:errcheck // end of the test
	})
	if _, err := e.nc.ChanSubscribe(string(subject.AllDown(e.id, e.conn)), e.down); err != nil {
		t.Fatal(err)
	}
	return e
}

type dialled struct{ conn net.Conn }

func (d dialled) Dial(string, string) (net.Conn, error) { return d.conn, nil }

func (e *edge) say(v subject.Verb, body any) {
	e.t.Helper()
	data, ok := body.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(body); err != nil {
			e.t.Fatal(err)
		}
	}
	if err := e.nc.Publish(string(subject.Up(e.id, e.conn, v)), data); err != nil {
		e.t.Fatal(err)
	}
}

// hear returns the next message of that kind, answering pings and passing over the rest.
func hear[T any](e *edge, v subject.Verb) T {
	e.t.Helper()
	return await[T](e, v, func(ping []byte) { e.say(subject.Pong, json.RawMessage(ping)) })
}

// silently is hear for an edge that answers no ping.
func silently[T any](e *edge, v subject.Verb) T {
	e.t.Helper()
	return await[T](e, v, func([]byte) {})
}

// live answers every ping, until the test ends, and returns all else that comes.
func (e *edge) live() <-chan *nats.Msg {
	others := make(chan *nats.Msg, cap(e.down))
	go func() {
		for {
			select {
			case <-e.gone:
				return
			case m := <-e.down:
				if subject.VerbOf(m.Subject) == subject.Ping {
					e.nc.Publish(string(subject.Up(e.id, e.conn, subject.Pong)), m.Data) //nolint:errcheck // then the test waits in vain
					continue
				}
				others <- m
			}
		}
	}()
	return others
}

// must returns the next message of a live edge, which is of that kind.
func must[T any](t *testing.T, heard <-chan *nats.Msg, v subject.Verb) (body T) {
	t.Helper()
	select {
	case m := <-heard:
		if err := json.Unmarshal(m.Data, &body); err != nil || subject.VerbOf(m.Subject) != v {
			t.Fatalf("heard %s %s, want %s", m.Subject, m.Data, v)
		}
	case <-time.After(patience):
		t.Fatalf("no %s came", v)
	}
	return body
}

func await[T any](e *edge, v subject.Verb, pinged func(ping []byte)) T {
	e.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case m := <-e.down:
			got := subject.VerbOf(m.Subject)
			if got == subject.Ping {
				pinged(m.Data)
			}
			if got != v {
				continue
			}
			var body T
			if err := json.Unmarshal(m.Data, &body); err != nil {
				e.t.Fatal(err)
			}
			return body
		case <-limit:
			e.t.Fatalf("no %s came", v)
		}
	}
}

func (e *edge) hello() wire.Welcome {
	e.t.Helper()
	e.say(subject.Hello, wire.Hello{Protocol: wire.Protocol, Incarnation: "i", BootNonce: e.boot})
	return hear[wire.Welcome](e, subject.Welcome)
}

func (e *edge) frame(g wire.Generation, first wire.ProducerSeq, rows ...string) {
	f := wire.Frame{Generation: g, First: first}
	for _, r := range rows {
		f.Rows = append(f.Rows, []byte(r))
	}
	e.say(subject.Frame, f.Append(nil))
}

// isServed sees that the connection goes on: a reason to end that was given before is met, by even chances, at each of the frames. committed
// returns the next acknowledgement.
func (e *edge) isServed(w wire.Welcome, committed func() wire.CommittedTo) {
	e.t.Helper()
	for seq := w.Watermark + 1; seq <= w.Watermark+20; seq++ {
		e.frame(w.Generation, seq, "a")
		if got := committed(); got.Receipt.Seq != seq {
			e.t.Fatalf("committed %+v, want %d", got, seq)
		}
	}
}

func (e *edge) mustEnd() {
	e.t.Helper()
	select {
	case <-e.gone:
	case <-time.After(patience):
		e.t.Fatal("the connection is still there")
	}
}
