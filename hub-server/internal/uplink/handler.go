package uplink

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// Headers of the 101 answer that opens a tunnel.
const (
	HeaderConnection = "Switchyard-Connection"
	HeaderTicket     = "Switchyard-Bus-Ticket"
)

// tunnelReadLimit bounds one WebSocket message, in bytes; the edge's NATS client writes its buffer of 32 KiB, or one large message.
const tunnelReadLimit = 2 << 20

// Deps is what a Handler works with. Problem answers a request that is refused before the upgrade.
type Deps struct {
	Log      *slog.Logger
	Bus      Bus
	Edges    Edges
	Lanes    Lanes
	Runs     Runs
	Presence Presence
	Others   Others
	Problem  func(http.ResponseWriter, *http.Request, error)
	Metrics  *Metrics
	// ShowWithin is how long an edge may take to show how runs began; 0 means as long as it may be silent.
	ShowWithin time.Duration
}

// Handler serves GET /edge/uplink and owns the lanes of this hub process. Safe for concurrent use.
type Handler struct {
	Deps
	lanes registry

	mu       sync.Mutex // held while running or looking grows, and while stopping ends
	stopping context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
	looking  sync.WaitGroup // into what other hubs said
}

// NewHandler returns a handler that serves until Run's context ends.
func NewHandler(d Deps) *Handler {
	h := &Handler{Deps: d, lanes: registry{byEdge: map[id.Edge]holder{}}}
	h.stopping, h.stop = context.WithCancel(context.Background())
	return h
}

// Run lets edges in until ctx ends, then closes every tunnel and waits for them.
func (h *Handler) Run(ctx context.Context) error {
	<-ctx.Done()
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	h.running.Wait()
	h.looking.Wait()
	return nil
}

// enter makes Run wait for running.Done, unless the hub is stopping: then it returns false.
func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping.Err() != nil {
		return false
	}
	h.running.Add(1)
	return true
}

// Wake tells the edge's lane, if it is held here, that commands may wait.
func (h *Handler) Wake(e id.Edge) {
	if l := h.lanes.of(e); l != nil {
		l.poke()
	}
}

// Disconnect ends the tunnel of an edge that was removed, if it is held here. See RevokedElsewhere for what was only heard.
func (h *Handler) Disconnect(e id.Edge) {
	if l := h.lanes.of(e); l != nil {
		l.end(removed())
	}
}

func removed() error {
	return fault.New(fault.EdgeRevoked, "This edge was removed from the hub. Enrol it again to use it.")
}

// ServeHTTP authenticates, upgrades and serves one tunnel until it ends.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	edge, err := h.Edges.Authenticate(r.Context(), bearer(r))
	if err != nil {
		h.Problem(w, r, err)
		return
	}
	if !h.enter() {
		h.Problem(w, r, fault.New(fault.Busy, "This hub is stopping. Try again in a moment."))
		return
	}
	defer h.running.Done()
	l := newLane(h, edge.ID)
	ticket := h.Bus.Ticket(edge.ID, l.conn)
	defer h.Bus.Forget(ticket)
	w.Header().Set(HeaderConnection, string(l.conn))
	w.Header().Set(HeaderTicket, ticket)
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		h.Log.Info("uplink upgrade failed", "edge", edge.ID, "error", err)
		return
	}
	socket.SetReadLimit(tunnelReadLimit)
	h.serve(l, socket) //nolint:contextcheck // a tunnel outlives its request: it ends with the handler
}

// serve runs the lane beside its tunnel; the end of one is the end of the other.
func (h *Handler) serve(l *lane, socket *websocket.Conn) {
	log := h.Log.With("edge", l.edge, "connection", l.conn)
	h.Metrics.tunnels.Inc()
	defer h.Metrics.tunnels.Dec()
	ctx, cancel := context.WithCancelCause(h.stopping)
	stopListening, err := h.Bus.Listen(ctx, subject.AllUp(l.edge, l.conn), l.receive(ctx))
	if err != nil {
		log.Error("uplink cannot listen", "error", err)
		socket.Close(websocket.StatusTryAgainLater, "bus away") //nolint:errcheck // nothing left to do
		cancel(nil)
		return
	}
	log.Info("uplink opened")
	var laneDone sync.WaitGroup
	laneDone.Go(func() { cancel(l.run(ctx)) })
	laneDone.Go(func() { l.pulse(ctx) })
	tunnelErr := h.Bus.Tunnel(ctx, websocket.NetConn(context.WithoutCancel(ctx), socket, websocket.MessageBinary))
	cancel(tunnelErr)
	stopListening()
	laneDone.Wait()
	socket.CloseNow() //nolint:errcheck // normally closed already
	log.Info("uplink closed", "cause", context.Cause(ctx))
}

func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

var errSilent = errors.New("edge has been silent for too long")

// Timing of a lane.
const (
	beatEvery     = 5 * time.Second
	standEvery    = 30 * time.Second // between two looks at whether the edge may still be here
	probeLimit    = 2 * time.Second  // for an older connection to prove that it is alive
	farewellLimit = time.Second      // for a refused edge to hang up
	lastWords     = 2 * time.Second  // to record the end of a lane
	asideLimit    = 2 * probeLimit   // for what another hub said to be checked
)
