package gate

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/frames"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testsqlite"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is one store and bus with any number of hubs.
type world struct {
	t       *testing.T
	store   *sqlstore.Store
	writer  *sqlstore.Writer
	marks   *delivery.Marks
	devices *fakeDevices
	bus     *memoryBus
	api     *apicontract.Validator
	secure  bool          // hubs speak TLS
	change  []func(*Gate) // what tests do to a gate before it runs

	mu   sync.Mutex
	hubs []*hub
}

// hub is a gate with its tail, served on a listener.
type hub struct {
	*Gate
	world   *world
	server  *httptest.Server
	network net.Listener            // below TLS
	line    func(net.Conn) net.Conn // what lies between a client and the network; nil: nothing
	signals *memstate.Signals
	stop    func()
}

// endLogin does what a hub does when a login has ended there.
func (h *hub) endLogin(f account.Family) {
	h.CloseFamily(f)
	h.signals.LoginEnded(f)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hub.db")
	testsqlite.Put(t, path, migrated)
	store, err := sqlstore.Open(context.WithoutCancel(t.Context()), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	api, err := apicontract.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, api: api, store: store, devices: &fakeDevices{known: map[account.AccessToken]account.Principal{}}, bus: &memoryBus{}}
	w.writer = store.NewWriter(quiet(), telemetry.NewRegistry("hub"), w.committed)
	w.marks = delivery.NewMarks(quiet(), sqlstore.NewMarks(store, w.writer), store.Epoch)
	w.run(w.writer.Run)
	w.run(w.marks.Run)
	return w
}

func migrated(path string) error {
	s, err := sqlstore.Open(context.Background(), path)
	if err != nil {
		return err
	}
	return s.Close()
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// run runs a part until the test ends; parts stop in reverse order.
func (w *world) run(part func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

func (w *world) committed(sqlstore.Committed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.hubs {
		h.Tail.Wake()
	}
}

// hub starts one more hub over the store. listen is nil for a real loopback socket.
func (w *world) hub(listen net.Listener, change ...func(*Deps)) *hub {
	w.t.Helper()
	registry := telemetry.NewRegistry("hub")
	tail := delivery.NewTail(delivery.Config{
		Log: quiet(), Metrics: registry, Outbox: w.store, Expand: frames.NewExpander(nil), Epoch: w.store.Epoch,
	})
	deps := Deps{
		Log: quiet(), Metrics: registry, Devices: w.devices, Tail: tail, Marks: w.marks, Bus: w.bus,
		Planner: delivery.Planner{Outbox: w.store, Marks: w.marks, Missed: tail.Missed}, Origins: []string{"https://app.example"}, Problem: answer,
	}
	for _, c := range change {
		c(&deps)
	}
	h := &hub{Gate: New(deps), world: w}
	for _, c := range w.change {
		c(h.Gate)
	}
	w.run(tail.Run)
	h.signals = memstate.NewSignals(string(id.NewConnection()), w.bus, memstate.Heard{
		LoginEnded: h.CloseFamily, EdgeRevoked: func(id.Edge) {}, CommandsWait: func(id.Edge) {},
	}, quiet())
	w.run(h.signals.Run)
	h.stop = w.run(h.Run)
	h.server = httptest.NewUnstartedServer(h.Gate)
	if listen != nil {
		h.server.Listener.Close()
		h.server.Listener = listen
	}
	h.network = h.server.Listener
	if w.secure {
		h.server.StartTLS()
	} else {
		h.server.Start()
	}
	w.t.Cleanup(h.server.Close)
	w.mu.Lock()
	w.hubs = append(w.hubs, h)
	w.mu.Unlock()
	return h
}

// answer stands for httpapi's problems.
func answer(w http.ResponseWriter, _ *http.Request, err error) {
	status := map[fault.Code]int{
		fault.Unauthenticated: 401, fault.OriginRefused: 403, fault.RateLimited: 429, fault.Busy: 503, fault.InvalidRequest: 400,
	}[fault.CodeOf(err)]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	http.Error(w, string(fault.CodeOf(err)), status)
}

// commit writes rows in one transaction.
func (w *world) commit(rows ...delivery.Row) {
	w.t.Helper()
	err := w.writer.Do(context.WithoutCancel(w.t.Context()), nil, func(_ context.Context, tx *sqlstore.Tx) error {
		for _, r := range rows {
			tx.Emit(r)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// note is a row with a numbered frame.
func note(to delivery.Audience, n int) delivery.Row {
	return delivery.Row{
		Audience: to, Kind: delivery.KindFrame, FrameType: string(SessionInfoUpdated),
		Payload: fmt.Appendf(nil, `{"session_id":"sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55","changes":{"n":%d}}`, n),
	}
}

func member(s id.Session, u id.User, c delivery.Change) delivery.Row {
	return delivery.Row{
		Audience: delivery.ToUser(u), Kind: delivery.KindFrame, FrameType: string(SessionMemberLeft),
		Payload: fmt.Appendf(nil, `{"session_id":%q,"member_id":%q}`, s, u), Session: s, Change: c, ChangeUser: u,
	}
}

// fakeDevices knows the logins of a test.
type fakeDevices struct {
	mu    sync.Mutex
	known map[account.AccessToken]account.Principal
	ended map[account.Family]bool
	fail  error
}

func (d *fakeDevices) Authenticate(_ context.Context, token account.AccessToken) (account.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.known[token]
	if !ok {
		return p, fault.New(fault.Unauthenticated, "no")
	}
	return p, nil
}

func (d *fakeDevices) FamilyAlive(_ context.Context, f account.Family) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.ended[f], d.fail
}

func (d *fakeDevices) end(f account.Family) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = map[account.Family]bool{f: true}
}

// login makes a device of a user and returns its token.
func (w *world) login(u id.User) (account.AccessToken, account.Principal) {
	device := id.NewDevice()
	p := account.Principal{User: u, Device: device, DeviceType: account.CLI, Family: account.Family("fam_" + device)}
	w.devices.mu.Lock()
	defer w.devices.mu.Unlock()
	w.devices.known[account.AccessToken("token-"+device)] = p
	return account.AccessToken("token-" + device), p
}

// memoryBus delivers to every listener, the sender's own included, like NATS.
type memoryBus struct {
	mu        sync.Mutex
	lossy     bool // loses everything
	listeners map[subject.Subject][]func(subject.Subject, []byte)
}

func (b *memoryBus) Publish(s subject.Subject, data []byte) error {
	b.mu.Lock()
	listeners := b.listeners[s]
	if b.lossy {
		listeners = nil
	}
	b.mu.Unlock()
	for _, l := range listeners {
		l(s, data)
	}
	return nil
}

func (b *memoryBus) lose(everything bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lossy = everything
}

func (b *memoryBus) Listen(_ context.Context, p subject.Pattern, h func(subject.Subject, []byte)) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[subject.Subject][]func(subject.Subject, []byte){}
	}
	b.listeners[subject.Subject(p)] = append(b.listeners[subject.Subject(p)], h)
	return func() {}, nil
}

// client is a device that reads.
type client struct {
	t      *testing.T
	api    *apicontract.Validator
	socket *websocket.Conn
	raw    net.Conn // beneath the socket
	seq    uint64
	cursor string
}

// received is a frame as a client reads it.
type received struct {
	Type    FrameType       `json:"type"`
	Seq     uint64          `json:"seq_id"`
	Payload json.RawMessage `json:"payload"`
	Cursor  string          `json:"cursor"`
}

// dial connects and reads nothing yet.
func (h *hub) dial(token account.AccessToken, cursor string) *client {
	h.world.t.Helper()
	c, _, err := h.tryDial(token, cursor)
	if err != nil {
		h.world.t.Fatal(err)
	}
	return c
}

func (h *hub) tryDial(token account.AccessToken, cursor string) (*client, *http.Response, error) {
	c := &client{t: h.world.t, api: h.world.api, cursor: cursor}
	dialer := net.Dialer{}
	connect := dialer.DialContext
	if pipes, ok := h.network.(*pipeListener); ok {
		connect = pipes.dial
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := connect(ctx, network, addr)
		if c.raw = raw; h.line != nil && err == nil {
			c.raw = h.line(raw)
		}
		return c.raw, err
	}}
	defer transport.CloseIdleConnections()
	address := "http://" + h.network.Addr().String() + "/client/ws"
	if h.world.secure {
		address = strings.Replace(address, "http:", "https:", 1)
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // whose hub it is is not what these tests are about
	}
	if cursor != "" {
		address += "?cursor=" + cursor
	}
	socket, resp, err := websocket.Dial(context.Background(), address, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport},
		HTTPHeader: http.Header{"Authorization": {"Bearer " + string(token)}},
	})
	if err != nil {
		return nil, resp, err
	}
	socket.SetReadLimit(-1)
	c.socket = socket
	h.world.t.Cleanup(func() { c.cut() })
	return c, resp, nil
}

// cut loses the connection.
func (c *client) cut() { c.socket.CloseNow() }

// next reads one frame and checks it against the contract, and its number.
func (c *client) next() received {
	c.t.Helper()
	f, err := c.tryNext(10 * time.Second)
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func (c *client) tryNext(within time.Duration) (received, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_, raw, err := c.socket.Read(ctx)
	if err != nil {
		return received{}, err
	}
	if err := c.api.Frame(raw); err != nil {
		return received{}, err
	}
	var f received
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("frame is not JSON: %w: %s", err, raw)
	}
	if c.seq++; f.Seq != c.seq {
		return f, fmt.Errorf("frame has number %d, want %d", f.Seq, c.seq)
	}
	if f.Cursor != "" {
		c.cursor = f.Cursor
	}
	return f, nil
}

// greeted reads auth.ok.
func (c *client) greeted() authOKPayload {
	c.t.Helper()
	f := c.next()
	var p authOKPayload
	if err := json.Unmarshal(f.Payload, &p); err != nil || f.Type != AuthOK {
		c.t.Fatalf("first frame is %s %s, error %v", f.Type, f.Payload, err)
	}
	if string(p.Cursor) != f.Cursor {
		c.t.Errorf("auth.ok has cursor %q in the frame and %q in the payload", f.Cursor, p.Cursor)
	}
	return p
}

// note reads the number of the next note; heartbeats are passed over.
func (c *client) note() int {
	c.t.Helper()
	n, err := c.tryNote(10 * time.Second)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

func (c *client) tryNote(within time.Duration) (int, error) {
	for {
		f, err := c.tryNext(within)
		if err != nil {
			return 0, err
		}
		if f.Type == AuthOK {
			continue
		}
		var p struct {
			Changes struct {
				N int `json:"n"`
			} `json:"changes"`
		}
		err = json.Unmarshal(f.Payload, &p)
		return p.Changes.N, err
	}
}

// closed reads until the connection ends and returns how.
func (c *client) closed() websocket.CloseError {
	c.t.Helper()
	for {
		if _, err := c.tryNext(10 * time.Second); err != nil {
			return closeError(err)
		}
	}
}

// has says whether a user has a connection.
func (r *registry) has(u id.User) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.users[u]) > 0
}
