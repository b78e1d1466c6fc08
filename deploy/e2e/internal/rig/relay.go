package rig

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// Relay stands between edges and their hub, as a Proxy does, and understands what they say: it sees inside of tunnels.
type Relay struct {
	hub  string // host and port
	taps Taps
	http *httptest.Server
	live sync.WaitGroup
}

// Taps are what a Relay does with what passes. Each may be called many times at once.
type Taps struct {
	// Up and Down carry one direction of a tunnel until it ends; nil: io.Copy.
	Up, Down func(to io.Writer, from io.Reader) error
	// Body is called with the body of each other request, and what it returns is sent instead; nil: as it is.
	Body func(io.ReadCloser) io.ReadCloser
}

// NewRelay returns a relay; set its hub before the first edge comes. The end of the test waits for the end of its tunnels.
func NewRelay(t TB, taps Taps) *Relay {
	t.Helper()
	r := &Relay{taps: taps}
	transport := &http.Transport{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /edge/uplink", r.tunnel)
	mux.Handle("/", &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(req *httputil.ProxyRequest) {
			req.Out.URL.Scheme, req.Out.URL.Host = "http", r.hub
			if taps.Body != nil && req.Out.Body != nil {
				req.Out.Body = taps.Body(req.Out.Body)
			}
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as if nobody listened
	})
	r.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		r.http.Close()
		r.live.Wait()
		transport.CloseIdleConnections()
	})
	return r
}

// SetHub says where the hub is.
func (r *Relay) SetHub(url string) { r.hub = strings.TrimPrefix(url, "http://") }

// Addr is where edges find the relay.
func (r *Relay) Addr() string { return r.http.Listener.Addr().String() }

func (r *Relay) tunnel(w http.ResponseWriter, req *http.Request) {
	r.live.Add(1)
	defer r.live.Done()
	up, resp, err := websocket.Dial(req.Context(), "ws://"+r.hub+req.URL.Path, //nolint:bodyclose // it is the socket
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": req.Header["Authorization"]}})
	if err != nil {
		panic(http.ErrAbortHandler) // as if nobody listened
	}
	defer up.CloseNow() //nolint:errcheck // the end of a tunnel
	for _, name := range []string{"Switchyard-Connection", "Switchyard-Bus-Ticket"} {
		w.Header().Set(name, resp.Header.Get(name))
	}
	down, err := websocket.Accept(w, req, nil)
	if err != nil {
		return // the edge was killed meanwhile
	}
	defer down.CloseNow() //nolint:errcheck // the end of a tunnel
	up.SetReadLimit(-1)
	down.SetReadLimit(-1)
	r.join(context.WithoutCancel(req.Context()), down, up)
}

// join carries both directions until either side ends.
func (r *Relay) join(ctx context.Context, down, up *websocket.Conn) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	edge, hub := websocket.NetConn(ctx, down, websocket.MessageBinary), websocket.NetConn(ctx, up, websocket.MessageBinary)
	group := supervise.NewGroup(ctx)
	group.Go(func(context.Context) error { return errors.Join(carry(r.taps.Up, hub, edge), io.EOF) }) // the first end cancels the other
	group.Go(func(context.Context) error { return errors.Join(carry(r.taps.Down, edge, hub), io.EOF) })
	group.Go(func(ctx context.Context) error {
		<-ctx.Done()
		return errors.Join(down.CloseNow(), up.CloseNow())
	})
	_ = group.Wait() // it always ends with the end of one side
}

func carry(tap func(io.Writer, io.Reader) error, to io.Writer, from io.Reader) error {
	if tap != nil {
		return tap(to, from)
	}
	_, err := io.Copy(to, from)
	return err
}
