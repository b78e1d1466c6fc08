package gate

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// accept makes the request a WebSocket, whose bytes are gathered (ADR 25). The caller sets wake of what it gets before anything is read.
func accept(
	w http.ResponseWriter, r *http.Request, buffers *bufferPool, mayPong func() bool, ponged func(payload []byte),
) (*websocket.Conn, *gatherConn, error) {
	lean := &leanWriter{ResponseWriter: w, buffers: buffers}
	socket, err := websocket.Accept(lean, r, &websocket.AcceptOptions{
		Subprotocols:       []string{bearerProtocol},
		InsecureSkipVerify: true, // Admission has judged the Origin, more strictly
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { return mayPong() },
		OnPongReceived:     func(_ context.Context, payload []byte) { ponged(payload) },
	})
	if err != nil {
		return nil, nil, err
	}
	return socket, lean.conn, nil
}

// ErrTakesNothing means that a socket has taken nothing for 15 s.
var ErrTakesNothing = errTakesNothing

// Sockets makes sockets that write as those of a Gate do, and share the room to gather in. The zero value is ready; safe for concurrent use.
type Sockets struct{ buffers bufferPool }

// Socket is a client's WebSocket. One goroutine reads, another one writes with Text and Flush. All else is safe for concurrent use.
type Socket struct {
	ws    *websocket.Conn
	out   *gatherConn
	pings Bucket // owned by the reader: the library asks it there
}

// Hooks are what a socket tells its owner. They must not block.
type Hooks struct {
	Wake   func() // something is gathered that nobody flushes
	Ponged func() // a pong came; called while the socket is read
}

// Accept makes an admitted request a socket. It reads messages of any length: the reader bounds what it takes of them.
func (s *Sockets) Accept(w http.ResponseWriter, r *http.Request, h Hooks) (*Socket, error) {
	socket := &Socket{pings: NewBucket(pingRate)}
	var err error
	socket.ws, socket.out, err = accept(w, r, &s.buffers, func() bool { return socket.pings.Take(time.Now()) }, func([]byte) { h.Ponged() })
	if err != nil {
		return nil, err
	}
	socket.ws.SetReadLimit(-1)
	socket.out.wake = h.Wake
	return socket, nil
}

// Next waits for the next message. What is left of it must be read before the next call.
func (s *Socket) Next(ctx context.Context) (text bool, message io.Reader, err error) {
	kind, message, err := s.ws.Reader(ctx)
	return kind == websocket.MessageText, message, err
}

// Text gathers one text message and says how many bytes wait now.
func (s *Socket) Text(message []byte) (gathered int) { return s.out.text(message) }

// Ping gathers a ping.
func (s *Socket) Ping() { s.out.ping(nil) }

// Flush writes everything gathered, as long as the socket takes something; ErrTakesNothing when it does not.
func (s *Socket) Flush() error {
	if s.out.Try() {
		return nil
	}
	return s.out.Flush()
}

// Busy says whether something has waited for the socket since the last ping, or since Busy was asked: a pong may still be behind it.
func (s *Socket) Busy() bool { return s.out.busy() }

// Hurry gives what is still to be written 1.5 s, a write under way included.
func (s *Socket) Hurry() { s.out.hurry() }

// Close says goodbye with a code and a reason of at most 123 bytes, in what is left of these 1.5 s. Nobody flushes or gathers any more.
func (s *Socket) Close(code websocket.StatusCode, reason string) {
	overdue := time.AfterFunc(time.Until(s.out.finish()), s.out.cut)
	defer overdue.Stop()
	s.ws.Close(code, reason) //nolint:errcheck // closed either way
}

// Cut closes the socket without a word.
func (s *Socket) Cut() { s.ws.CloseNow() } //nolint:errcheck // gone either way
