// Package rawedge speaks the uplink by hand (docs/protocols/uplink.md): as an honest edge without agents, for measurements, or as a
// malicious one that says what no edge-server would. It is written from the protocol's page alone and shares nothing with edge-server.
package rawedge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Identity is what enrolment gives an edge.
type Identity struct {
	Hub        string // base URL
	Edge       id.Edge
	Credential string
}

// Enrol redeems a token.
func Enrol(ctx context.Context, hub, token string) (Identity, error) {
	body, err := json.Marshal(map[string]string{"token": token, "hostname": "raw", "version": "raw"})
	if err != nil {
		return Identity{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hub+"/edge/enrol", bytes.NewReader(body))
	if err != nil {
		return Identity{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	plain := http.Client{Timeout: answerWithin}
	resp, err := plain.Do(req)
	if err != nil {
		return Identity{}, fmt.Errorf("enrol: %w", err)
	}
	defer resp.Body.Close()
	var got struct {
		EdgeID     id.Edge `json:"edge_id"`
		Credential string  `json:"credential"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != http.StatusCreated {
		return Identity{}, errors.Join(fmt.Errorf("enrol: answered %s", resp.Status), err)
	}
	return Identity{Hub: hub, Edge: got.EdgeID, Credential: got.Credential}, nil
}

// answerWithin bounds how long the hub may think about an enrolment, or the bus about what was published.
const answerWithin = 10 * time.Second

// Conn is one connection to the bus, through a tunnel of its own. Safe for concurrent use.
type Conn struct {
	Edge       id.Edge
	Connection id.Connection

	nats    *nats.Conn
	down    chan *nats.Msg
	closed  chan struct{}
	socket  *websocket.Conn
	end     context.CancelFunc
	refused chan error // by the bus
}

const (
	downMessages = 1 << 16 // how much of the hub may wait to be heard
	refusals     = 64      // how many may wait to be asked for; further ones are dropped
)

// Dial opens the tunnel and logs in to the bus with the ticket that the hub gives for it.
func Dial(ctx context.Context, who Identity) (*Conn, error) {
	address := "ws" + strings.TrimPrefix(who.Hub, "http") + "/edge/uplink"
	socket, resp, err := websocket.Dial(ctx, address, //nolint:bodyclose // the library keeps the body: it is the socket
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + who.Credential}}})
	if err != nil {
		return nil, fmt.Errorf("open tunnel: %w", err)
	}
	socket.SetReadLimit(-1)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &Conn{
		Edge: who.Edge, Connection: id.Connection(resp.Header.Get("Switchyard-Connection")),
		down: make(chan *nats.Msg, downMessages), closed: make(chan struct{}), refused: make(chan error, refusals), socket: socket, end: end,
	}
	c.nats, err = nats.Connect(nats.DefaultURL, nats.NoReconnect(),
		nats.UserInfo(string(who.Edge), resp.Header.Get("Switchyard-Bus-Ticket")),
		nats.SetCustomDialer(tunnel{websocket.NetConn(life, socket, websocket.MessageBinary)}),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			select {
			case c.refused <- err:
			default: // one is enough to know
			}
		}))
	if err != nil {
		end()
		return nil, errors.Join(fmt.Errorf("log in to the bus: %w", err), socket.CloseNow())
	}
	if _, err := c.nats.ChanSubscribe(string(subject.AllDown(c.Edge, c.Connection)), c.down); err != nil {
		c.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return c, nil
}

// tunnel hands an open stream to the NATS client.
type tunnel struct{ stream net.Conn }

func (t tunnel) Dial(string, string) (net.Conn, error) { return t.stream, nil }

// Close ends the connection and returns when it has ended.
func (c *Conn) Close() {
	c.nats.Close()
	<-c.closed
	c.end()
	c.socket.CloseNow() //nolint:errcheck // it is over
}

// Closed is closed when the connection has ended, whoever ended it.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// Say publishes on this connection's own subject. A []byte goes as it is, anything else as JSON.
func (c *Conn) Say(v subject.Verb, body any) error {
	return c.Publish(string(subject.Up(c.Edge, c.Connection, v)), "", body)
}

// Publish publishes anywhere, with a reply subject if it is not "": what the bus thinks of it shows in Refused.
func (c *Conn) Publish(to, reply string, body any) error {
	data, raw := body.([]byte)
	if !raw {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode: %w", err)
		}
	}
	return c.nats.PublishMsg(&nats.Msg{Subject: to, Reply: reply, Data: data})
}

// Subscribe asks to listen anywhere: what the bus thinks of it shows in Refused.
func (c *Conn) Subscribe(to string) error {
	_, err := c.nats.SubscribeSync(to)
	return err
}

// Refused returns what the bus has refused since the last call. It waits for the bus to have judged everything said so far and, as refusals
// come on their own, for another moment; nil if none came.
func (c *Conn) Refused(moment time.Duration) error {
	if err := c.nats.FlushTimeout(answerWithin); err != nil {
		return fmt.Errorf("the bus does not answer: %w", err)
	}
	limit := time.NewTimer(moment)
	defer limit.Stop()
	select {
	case err := <-c.refused:
		return err
	case <-limit.C:
		return nil
	}
}

// Hear returns the next message of that kind. It answers pings and passes over everything else.
func Hear[T any](ctx context.Context, c *Conn, v subject.Verb) (T, error) {
	var body T
	for {
		m, err := c.next(ctx)
		if err != nil {
			return body, fmt.Errorf("wait for %s: %w", v, err)
		}
		if subject.VerbOf(m.Subject) == v {
			err := json.Unmarshal(m.Data, &body)
			return body, err
		}
	}
}

// Next returns the verb of the next message, whatever it is, and its body. It answers pings.
func (c *Conn) Next(ctx context.Context) (subject.Verb, []byte, error) {
	m, err := c.next(ctx)
	if err != nil {
		return "", nil, err
	}
	return subject.VerbOf(m.Subject), m.Data, nil
}

func (c *Conn) next(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-c.down:
		if subject.VerbOf(m.Subject) == subject.Ping {
			return m, c.Say(subject.Pong, m.Data)
		}
		return m, nil
	case <-c.closed:
		return nil, errors.New("the connection has ended")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Hello says hello as a fresh machine that offers profiles of the events runtime, and returns the hub's welcome.
func (c *Conn) Hello(ctx context.Context, incarnation wire.Incarnation, profiles ...string) (wire.Welcome, error) {
	hello := wire.Hello{Protocol: wire.Protocol, Incarnation: incarnation, BootNonce: wire.BootNonce(incarnation), Floor: 1, Version: "raw", LiveRuns: []id.Run{}}
	for _, p := range profiles {
		hello.Profiles = append(hello.Profiles, wire.Profile{Name: p, Runtime: "events"})
	}
	if err := c.Say(subject.Hello, hello); err != nil {
		return wire.Welcome{}, err
	}
	return Hear[wire.Welcome](ctx, c, subject.Welcome)
}

// Accept waits for the next command and answers that it was accepted.
func (c *Conn) Accept(ctx context.Context) (wire.Command, error) {
	command, err := Hear[wire.Command](ctx, c, subject.Command)
	if err != nil {
		return command, err
	}
	return command, c.Say(subject.Receipt, wire.CommandReceipt{DeliveryID: command.DeliveryID, RunID: command.RunID, Status: wire.Accepted})
}
