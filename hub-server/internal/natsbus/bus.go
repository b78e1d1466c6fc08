package natsbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

const (
	connectLimit    = 10 * time.Second // of NATS's own 2 s a machine that starts everything at once may need all for the handshake of TLS
	reconnectWait   = 100 * time.Millisecond
	reconnectJitter = 100 * time.Millisecond
	roundTripLimit  = 5 * time.Second
	pendingMessages = 1 << 16
	pendingBytes    = 64 << 20 // bytes of a subscription that its handler has not taken; beyond it NATS drops and the lane rewinds
)

// Handler receives messages of one subscription one after another, in the order of publication.
type Handler = func(s subject.Subject, data []byte)

// Bus is a connection of the hub itself. It reconnects for ever; what is published meanwhile is lost, which every user of the
// bus expects. Safe for concurrent use.
type Bus struct {
	nc *nats.Conn
}

// Connect returns a bus on the embedded server.
func (s *Server) Connect() (*Bus, error) {
	return connect(s.log, nats.DefaultURL, nats.InProcessServer(s), nats.UserInfo(hubUser, s.secret))
}

// Dial returns a bus on a NATS server or cluster between hub processes (HUB_NATS_URL: one address or several, separated by commas). credentials is
// a file with a user's JWT and seed, which is read again at each connection; "" for none.
func Dial(log *slog.Logger, addresses, credentials string) (*Bus, error) {
	if err := CheckURL(addresses); err != nil {
		return nil, err
	}
	var own []nats.Option
	if credentials != "" {
		own = append(own, nats.UserCredentials(credentials))
	}
	bus, err := connect(log, addresses, own...)
	if errors.Is(err, nats.ErrNoServers) {
		return nil, fmt.Errorf("no NATS server answers there: start it, or correct the address; a hub that is alone needs none: %w", err)
	}
	return bus, err
}

// CheckURL says what is wrong with addresses, without repeating them: they may contain a password.
func CheckURL(addresses string) error {
	for _, address := range strings.Split(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return errors.New("want nats://user:password@host:port, or tls:// for TLS alone; several separated by commas")
		}
	}
	return nil
}

func connect(log *slog.Logger, address string, extra ...nats.Option) (*Bus, error) {
	opts := append([]nats.Option{
		nats.Name("switchyard-hub"),
		nats.Timeout(connectLimit),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // a bus that refuses us for a while must not be given up for good
		nats.ReconnectBufSize(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectJitter, reconnectJitter),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if !nc.IsClosed() {
				log.Warn("bus lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("bus is back") }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			log.Warn("bus error", "subject", subjectOf(sub), "error", err)
		}),
	}, extra...)
	nc, err := nats.Connect(address, opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to bus: %w", err)
	}
	return &Bus{nc: nc}, nil
}

func subjectOf(sub *nats.Subscription) string {
	if sub == nil {
		return ""
	}
	return sub.Subject
}

// Publish sends data to whoever listens now.
func (b *Bus) Publish(s subject.Subject, data []byte) error {
	return b.nc.Publish(string(s), data)
}

// Listen calls h for every message on the pattern. When it returns, messages published later will arrive. Stop ends the
// subscription; a call of h may still be under way.
func (b *Bus) Listen(ctx context.Context, p subject.Pattern, h Handler) (stop func(), err error) {
	sub, err := b.nc.Subscribe(string(p), func(m *nats.Msg) { h(subject.Subject(m.Subject), m.Data) })
	if err != nil {
		return nil, fmt.Errorf("subscribe %s: %w", p, err)
	}
	if err := sub.SetPendingLimits(pendingMessages, pendingBytes); err != nil {
		return nil, fmt.Errorf("limit %s: %w", p, err)
	}
	if err := b.RoundTrip(ctx); err != nil {
		sub.Unsubscribe() //nolint:errcheck // the connection is gone, and the subscription with it
		return nil, fmt.Errorf("flush %s: %w", p, err)
	}
	return func() { sub.Unsubscribe() }, nil //nolint:errcheck // fails only when the connection is gone, and the subscription with it
}

// RoundTrip returns when the bus has taken all that was sent before, or an error after a few seconds.
func (b *Bus) RoundTrip(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, roundTripLimit)
	defer cancel()
	return b.nc.FlushWithContext(ctx)
}

// Close ends the connection and its subscriptions.
func (b *Bus) Close() { b.nc.Close() }
