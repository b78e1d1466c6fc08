package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// door is where a crowd stands.
type door struct {
	crowd *crowd
	addr  string
	http2 bool
	trust *x509.CertPool // nil without TLS
}

// eachDoor runs a test with all that a listener can speak.
func eachDoor(t *testing.T, test func(*testing.T, door)) {
	t.Run("plain", func(t *testing.T) { test(t, crowded(t, false)) })
	t.Run("TLS", func(t *testing.T) { test(t, crowded(t, true)) })
	t.Run("HTTP/2", func(t *testing.T) {
		d := crowded(t, true)
		d.http2 = true
		test(t, d)
	})
}

// crowded serves with two places, answering 503 to a surplus connection as the hub does.
func crowded(t *testing.T, secure bool) door {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := door{crowd: newCrowd(crowdPlaces), addr: l.Addr().String()}
	var connections sync.WaitGroup
	server := &http.Server{
		ConnContext: mark, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state { //nolint:exhaustive // the first and the last
			case http.StateNew:
				connections.Add(1)
			case http.StateClosed:
				connections.Done()
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if surplus(r.Context()) {
				w.Header().Set("Connection", "close")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}),
	}
	serve := server.Serve
	if secure {
		d.trust = x509.NewCertPool()
		server.TLSConfig = certified(t, d.trust)
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serve(d.crowd.around(l)); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
		connections.Wait()
	})
	return d
}

// certified is the configuration of a hub that shows a certificate, whose authority trust learns.
func certified(t *testing.T, trust *x509.CertPool) *tls.Config {
	t.Helper()
	authority, cert, key := issueBy(t)
	c, err := newCertificate(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	trust.AddCert(authority.Root())
	return c.config()
}

// dial opens a connection that says nothing yet.
func (d door) dial(t *testing.T) net.Conn {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// visitor asks over one connection, and has no other.
type visitor struct {
	conn   net.Conn
	client *http.Client
	url    string
}

// enter opens a connection.
func (d door) enter(t *testing.T) visitor {
	t.Helper()
	v := visitor{conn: d.dial(t), url: "http://" + d.addr}
	only := make(chan net.Conn, 1)
	only <- v.conn
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
		select {
		case conn := <-only:
			return conn, nil
		default:
			return nil, errors.New("the connection was closed")
		}
	}}
	transport.Protocols.SetHTTP1(!d.http2)
	transport.Protocols.SetHTTP2(d.http2)
	if d.trust != nil {
		v.url = "https://" + d.addr
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: d.trust}
	}
	v.client = &http.Client{Transport: transport}
	t.Cleanup(transport.CloseIdleConnections)
	return v
}

// ask returns the status of an answer; the connection stays open if the server lets it.
func (v visitor) ask(t *testing.T) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
