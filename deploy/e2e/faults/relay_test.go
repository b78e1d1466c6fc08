package faults

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// relay stands between edges and their hub and delivers every frame of rows twice, and once more after the frame that follows it.
type relay struct {
	hub  string // host and port
	http *httptest.Server
	live sync.WaitGroup
	// again counts rows that were delivered a second or third time.
	again atomic.Int64
}

// newRelay returns a relay; set its hub before the first edge comes. Its end waits for the end of its tunnels.
func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{}
	transport := &http.Transport{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /edge/uplink", r.tunnel)
	mux.Handle("/", &httputil.ReverseProxy{
		Transport:    transport,
		Rewrite:      func(req *httputil.ProxyRequest) { req.Out.URL.Scheme, req.Out.URL.Host = "http", r.hub },
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

// addr is where edges find the relay.
func (r *relay) addr() string { return r.http.Listener.Addr().String() }

func (r *relay) tunnel(w http.ResponseWriter, req *http.Request) {
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
func (r *relay) join(ctx context.Context, down, up *websocket.Conn) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	edge, hub := websocket.NetConn(ctx, down, websocket.MessageBinary), websocket.NetConn(ctx, up, websocket.MessageBinary)
	group := supervise.NewGroup(ctx)
	group.Go(func(context.Context) error { return errors.Join(r.repeat(hub, edge), io.EOF) }) // the first end cancels the other
	group.Go(func(context.Context) error {
		_, err := io.Copy(edge, hub)
		return errors.Join(err, io.EOF)
	})
	group.Go(func(ctx context.Context) error {
		<-ctx.Done()
		return errors.Join(down.CloseNow(), up.CloseNow())
	})
	_ = group.Wait() // it always ends with the end of one side
}

// repeat copies what the edge says, frames of rows more than once.
func (r *relay) repeat(hub io.Writer, edge io.Reader) error {
	in := bufio.NewReader(edge)
	var last message
	for {
		m, err := readMessage(in)
		if err != nil {
			return err
		}
		if m.rows == 0 {
			_, err = hub.Write(m.raw)
		} else {
			_, err = hub.Write(slices.Concat(m.raw, m.raw, last.raw))
			r.again.Add(int64(m.rows + last.rows))
			last = m
		}
		if err != nil {
			return err
		}
	}
}

// message is one thing that a client says to a NATS server.
type message struct {
	raw  []byte
	rows int // of events inside
}

func readMessage(in *bufio.Reader) (message, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return message{}, err
	}
	words := strings.Fields(string(line))
	if len(words) < 3 || words[0] != "PUB" {
		return message{raw: line}, nil
	}
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return message{}, err
	}
	body := make([]byte, size+len("\r\n"))
	if _, err := io.ReadFull(in, body); err != nil {
		return message{}, err
	}
	m := message{raw: append(line, body...)}
	if subject.VerbOf(words[1]) == subject.Frame {
		frame, err := wire.DecodeFrame(body[:size])
		if err != nil {
			return message{}, err
		}
		m.rows = len(frame.Rows)
	}
	return m, nil
}
