package natsbus

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func startServer(t *testing.T) *Server {
	t.Helper()
	s, err := NewServer(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func connectBus(t *testing.T, s *Server) *Bus {
	t.Helper()
	b, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// tunnelled is an edge's NATS connection through Server.Tunnel, as an edge makes it: one dial, no reconnect.
func tunnelled(t *testing.T, s *Server, user, password string) (*nats.Conn, <-chan error, error) {
	t.Helper()
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Tunnel(ctx, far) }()
	denied := make(chan error, 64)
	nc, err := nats.Connect(nats.DefaultURL, nats.SetCustomDialer(once{near}), nats.UserInfo(user, password), nats.NoReconnect(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	t.Cleanup(func() {
		if nc != nil {
			nc.Close()
		}
		cancel()
		<-ended
	})
	return nc, denied, err
}

type once struct{ conn net.Conn }

func (o once) Dial(string, string) (net.Conn, error) { return o.conn, nil }

func TestAnEdgeSpeaksAndHearsOnlyOnItsOwnConnection(t *testing.T) {
	s := startServer(t)
	b := connectBus(t, s)
	edge, conn := id.NewEdge(), id.NewConnection()
	nc, _, err := tunnelled(t, s, string(edge), s.Ticket(edge, conn))
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	stop, err := b.Listen(t.Context(), subject.AllUp(edge, conn), func(sub subject.Subject, data []byte) {
		heard <- string(subject.VerbOf(string(sub))) + " " + string(data)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := nc.Publish(string(subject.Up(edge, conn, subject.Hello)), []byte("hi")); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, heard); got != "hello hi" {
		t.Errorf("hub heard %q", got)
	}
	down, err := nc.SubscribeSync(string(subject.AllDown(edge, conn)))
	if err != nil || nc.Flush() != nil {
		t.Fatal(err)
	}
	if err := b.Publish(subject.Down(edge, conn, subject.Welcome), []byte("ok")); err != nil {
		t.Fatal(err)
	}
	if m, err := down.NextMsg(5 * time.Second); err != nil || string(m.Data) != "ok" {
		t.Errorf("edge heard %v, %v", m, err)
	}
}

// SEC16: everything but the connection's own subjects is denied.
func TestSEC16DenyMatrix(t *testing.T) {
	s := startServer(t)
	me, other := id.NewEdge(), id.NewEdge()
	conn, older := id.NewConnection(), id.NewConnection()
	nc, denied, err := tunnelled(t, s, string(me), s.Ticket(me, conn))
	if err != nil {
		t.Fatal(err)
	}
	publish := []string{
		string(subject.Up(other, conn, subject.Frame)), string(subject.Up(me, older, subject.Frame)),
		string(subject.Down(me, conn, subject.Command)), string(subject.Down(other, conn, subject.Command)),
		string(subject.WakeOutbox), string(subject.Kick), "_INBOX.x.y", "$SYS.REQ.SERVER.PING", "$JS.API.INFO", "anything",
	}
	for _, sub := range publish {
		if err := nc.Publish(sub, []byte("x")); err != nil {
			t.Fatal(err)
		}
		expectDenied(t, denied, "publish "+sub)
	}
	listen := []string{
		string(subject.AllDown(other, conn)), string(subject.AllDown(me, older)), string(subject.AllUp(me, conn)), string(subject.AllUp(other, conn)),
		"edge.>", ">", "_INBOX.>", "hub.>", "$SYS.>", "$JS.API.>",
	}
	for _, sub := range listen {
		if _, err := nc.SubscribeSync(sub); err != nil {
			t.Fatal(err)
		}
		expectDenied(t, denied, "subscribe "+sub)
	}
}

// A reply subject that the edge chooses passes NATS; what counts is that the hub never uses it. Handlers do not even see it.
func TestSEC16ReplySubjectsNeverReachAHandler(t *testing.T) {
	s := startServer(t)
	b := connectBus(t, s)
	edge, conn := id.NewEdge(), id.NewConnection()
	nc, _, err := tunnelled(t, s, string(edge), s.Ticket(edge, conn))
	if err != nil {
		t.Fatal(err)
	}
	heard, kicked := make(chan string, 1), make(chan string, 1)
	for p, ch := range map[subject.Pattern]chan string{subject.AllUp(edge, conn): heard, subject.Pattern(subject.Kick): kicked} {
		stop, err := b.Listen(t.Context(), p, func(_ subject.Subject, data []byte) { ch <- string(data) })
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	if err := nc.PublishRequest(string(subject.Up(edge, conn, subject.Pong)), string(subject.Kick), []byte("x")); err != nil {
		t.Fatal(err)
	}
	receive(t, heard)
	if err := b.RoundTrip(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-kicked:
		t.Errorf("reply subject was used: %q", got)
	default:
	}
}

func TestATicketIsGoodForOneLoginOfItsEdge(t *testing.T) {
	s := startServer(t)
	edge, conn := id.NewEdge(), id.NewConnection()
	ticket := s.Ticket(edge, conn)
	if _, _, err := tunnelled(t, s, string(edge), ticket); err != nil {
		t.Fatal(err)
	}
	if _, _, err := tunnelled(t, s, string(edge), ticket); !turnedAway(err) {
		t.Errorf("second use of a ticket: %v", err)
	}
	if _, _, err := tunnelled(t, s, string(id.NewEdge()), s.Ticket(edge, conn)); !turnedAway(err) {
		t.Errorf("ticket of another edge: %v", err)
	}
	forgotten := s.Ticket(edge, conn)
	s.Forget(forgotten)
	if _, _, err := tunnelled(t, s, string(edge), forgotten); !turnedAway(err) {
		t.Errorf("forgotten ticket: %v", err)
	}
	if _, _, err := tunnelled(t, s, hubUser, "guess"); !turnedAway(err) {
		t.Errorf("guessed hub password: %v", err)
	}
}

// turnedAway says whether the server let nobody in: it says so and hangs up, and the second may be noticed first.
func turnedAway(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}

func TestRestartEndsTunnelsAndBusesComeBackByThemselves(t *testing.T) {
	s := startServer(t)
	b := connectBus(t, s)
	heard := make(chan string, 1024)
	stop, err := b.Listen(t.Context(), subject.Pattern(subject.WakeOutbox), func(_ subject.Subject, data []byte) { heard <- string(data) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Tunnel(context.Background(), far) }()
	if _, err := io.ReadAtLeast(near, make([]byte, 4096), 4); err != nil { // the server's INFO line
		t.Fatal(err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	receive(t, ended)
	deadline := time.After(10 * time.Second)
	for {
		b.Publish(subject.WakeOutbox, []byte("again")) //nolint:errcheck // fails until the bus is back
		select {
		case <-heard:
			return
		case <-deadline:
			t.Fatal("bus did not come back")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestTheServerListensNowhere(t *testing.T) {
	s := startServer(t)
	if addr := s.current.Addr(); addr != nil {
		t.Errorf("listens on %v", addr)
	}
}

func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func expectDenied(t *testing.T, denied <-chan error, what string) {
	t.Helper()
	select {
	case err := <-denied:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("%s was not denied", what)
	}
}
