package uplink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/lane"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// inboxMessages is how many messages of the hub may wait. Beyond it the connection ends: the next one starts over.
const inboxMessages = 4096

// bus is the NATS connection inside one tunnel. It never reconnects.
type bus struct {
	edge   id.Edge
	conn   id.Connection
	nats   *nats.Conn
	inbox  chan *nats.Msg
	closed chan error // cap 1: why the connection ended
}

// stream is the tunnel as a byte stream. A write that a dead link holds up for longer than patience fails, or the loop would wait with it and
// never notice the lane.Silence. Close does not wait for the hub to say goodbye.
type stream struct {
	net.Conn
	socket   *websocket.Conn
	patience time.Duration
}

func newStream(ctx context.Context, socket *websocket.Conn, patience time.Duration) stream {
	return stream{websocket.NetConn(ctx, socket, websocket.MessageBinary), socket, patience}
}

func (s stream) Write(p []byte) (int, error) {
	if err := s.SetWriteDeadline(time.Now().Add(s.patience)); err != nil {
		return 0, fmt.Errorf("limit write: %w", err)
	}
	return s.Conn.Write(p)
}

func (s stream) Close() error { return s.socket.CloseNow() }

// dialer hands the tunnel to the NATS client instead of dialling.
type dialer struct{ tunnel net.Conn }

func (d dialer) Dial(_, _ string) (net.Conn, error) { return d.tunnel, nil }

// SkipTLSHandshake keeps the client from upgrading a stream that is as private as the tunnel already.
func (d dialer) SkipTLSHandshake() bool { return true }

// openBus speaks NATS over the tunnel and subscribes to everything that the hub may say on this connection. The tunnel is the bus's from
// then on.
func openBus(ctx context.Context, edge id.Edge, t *tunnel) (*bus, error) {
	b := &bus{edge: edge, conn: t.conn, inbox: make(chan *nats.Msg, inboxMessages), closed: make(chan error, 1)}
	tunnel := newStream(context.WithoutCancel(ctx), t.socket, lane.Silence)
	nc, err := nats.Connect("nats://hub",
		nats.SetCustomDialer(dialer{tunnel}), nats.SkipHostLookup(), nats.NoReconnect(), nats.NoCallbacksAfterClientClose(),
		nats.UserInfoHandler(func() (string, string) { return string(edge), t.ticket }),
		nats.Timeout(dialLimit), nats.FlusherTimeout(lane.Silence),
		nats.ClosedHandler(func(nc *nats.Conn) { b.end(nc.LastError()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.end(err) }),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("speak to the bus: %w", err), tunnel.Close())
	}
	b.nats = nc
	if _, err := nc.ChanSubscribe(string(subject.AllDown(edge, t.conn)), b.inbox); err != nil {
		b.close()
		return nil, fmt.Errorf("listen on the bus: %w", err)
	}
	return b, nil
}

// end remembers the first reason for which the connection is of no more use.
func (b *bus) end(err error) {
	if err == nil {
		err = errors.New("the hub closed the connection")
	}
	select {
	case b.closed <- err:
	default: // a reason is known
	}
}

func (b *bus) publish(v subject.Verb, data []byte) error {
	if err := b.nats.Publish(string(subject.Up(b.edge, b.conn, v)), data); err != nil {
		return fmt.Errorf("publish %s: %w", v, err)
	}
	return nil
}

// close ends the connection and the tunnel at once.
func (b *bus) close() { b.nats.Close() }
