package faults

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	credential = "sye_credential_of_the_edge_under_test"
	ticket     = "a-ticket-for-the-bus"
	pingEvery  = 5 * time.Second // an edge gives up a hub that is silent for 15
)

// tunnel carries one connection of the edge, with a bus of its own, until the edge ends it.
func (h *hub) tunnel(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+credential {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	name := id.NewConnection()
	bus, err := server.NewServer(&server.Options{
		DontListen: true, NoSigs: true, NoLog: true, Users: []*server.User{
			{Username: "hub", Password: "hub"}, {Username: string(h.edge), Password: ticket},
		},
	})
	if err != nil {
		h.t.Error(err)
		return
	}
	bus.Start()
	defer bus.WaitForShutdown()
	defer bus.Shutdown()
	own, c, err := h.listen(bus, name)
	if err != nil {
		h.t.Error(err)
		return
	}
	defer own.Close()
	defer h.change(func() {
		if h.conn == c {
			h.conn = nil
		}
	})
	w.Header().Set("Switchyard-Connection", string(name))
	w.Header().Set("Switchyard-Bus-Ticket", ticket)
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // the edge was killed meanwhile
	}
	defer socket.CloseNow() //nolint:errcheck // the end of a tunnel
	socket.SetReadLimit(-1)
	stream, err := bus.InProcessConn()
	if err != nil {
		h.t.Error(err)
		return
	}
	life, end := context.WithCancel(context.WithoutCancel(r.Context()))
	defer end()
	pipe(life, websocket.NetConn(life, socket, websocket.MessageBinary), stream, func() {
		h.change(func() { c.say(subject.Ping, wire.Ping{}) })
	})
}

// listen hears what the edge says on the connection of that name.
func (h *hub) listen(bus *server.Server, name id.Connection) (*nats.Conn, *conn, error) {
	own, err := nats.Connect("", nats.InProcessServer(bus), nats.UserInfo("hub", "hub"))
	if err != nil {
		return nil, nil, err
	}
	c := &conn{say: func(v subject.Verb, body any) { h.speak(own, name, v, body) }}
	_, err = own.Subscribe(string(subject.AllUp(h.edge, name)), func(m *nats.Msg) { h.hear(c, subject.VerbOf(m.Subject), m.Data) })
	return own, c, errors.Join(err, own.Flush())
}

// speak says something to the edge. A connection that has ended hears nothing.
func (h *hub) speak(own *nats.Conn, name id.Connection, v subject.Verb, body any) {
	data, err := json.Marshal(body)
	if err == nil {
		err = own.Publish(string(subject.Down(h.edge, name, v)), data)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		h.t.Error(err)
	}
}

// pipe copies both ways until either side ends, and calls ping now and then.
func pipe(ctx context.Context, a, b net.Conn, ping func()) {
	group := supervise.NewGroup(ctx)
	for _, ends := range [][2]net.Conn{{a, b}, {b, a}} {
		group.Go(func(context.Context) error {
			_, err := io.Copy(ends[0], ends[1])
			return errors.Join(err, io.EOF) // the first end cancels the other
		})
	}
	group.Go(func(ctx context.Context) error {
		tick := time.NewTicker(pingEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				ping()
			case <-ctx.Done():
				return errors.Join(a.Close(), b.Close())
			}
		}
	})
	_ = group.Wait() // it always ends with the end of one side
}
