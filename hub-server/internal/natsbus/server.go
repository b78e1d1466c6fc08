// Package natsbus is Switchyard's only door to NATS: an embedded server for the edges of this hub process, and typed publish and
// subscribe for hubs among each other. Core NATS only: a transport that may lose everything it holds at any moment.
package natsbus

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	readyTimeout = connectLimit
	maxPayload   = 1 << 20 // bytes; an uplink frame is at most 324 KiB
	maxSubs      = 1 << 14 // of one connection: the hub has one per edge, an edge needs one
	maxPending   = 8 << 20 // bytes that the server holds for a connection which does not read
)

var _ = [1]struct{}{}[wire.MaxFrameBytes/maxPayload] // a frame fits into a payload, or this does not compile

// Server is the embedded NATS server of one hub process. It listens nowhere: connections come from this process, those of
// edges through authenticated tunnels. Methods are safe for concurrent use.
type Server struct {
	log     *slog.Logger
	tickets *ticketBook
	secret  string // password of the hub's own connections

	mu      sync.Mutex
	current *server.Server
}

// NewServer starts an embedded server. Stop it when all tunnels and buses are closed.
func NewServer(log *slog.Logger) (*Server, error) {
	s := &Server{log: log, tickets: newTicketBook(), secret: randomSecret()}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) start() error {
	ns, err := server.NewServer(&server.Options{
		ServerName:                 "switchyard",
		DontListen:                 true,
		NoSystemAccount:            true,
		NoSigs:                     true,
		NoLog:                      true,
		JetStream:                  false,
		MaxPayload:                 maxPayload,
		MaxPending:                 maxPending,
		MaxControlLine:             1024,
		AuthTimeout:                connectLimit.Seconds(),
		MaxSubs:                    maxSubs,
		CustomClientAuthentication: &authenticator{tickets: s.tickets, secret: s.secret},
	})
	if err != nil {
		return fmt.Errorf("make nats server: %w", err)
	}
	ns.Start()
	if !ns.ReadyForConnections(readyTimeout) {
		ns.Shutdown()
		return errors.New("nats server did not become ready")
	}
	s.mu.Lock()
	s.current = ns
	s.mu.Unlock()
	return nil
}

// Stop ends the server and every connection to it.
func (s *Server) Stop() {
	s.mu.Lock()
	ns := s.current
	s.mu.Unlock()
	ns.Shutdown()
	ns.WaitForShutdown()
}

// Restart replaces the server by an empty one: what a crash of the bus does to everybody connected. Buses reconnect by
// themselves, tunnels end and their edges come back.
func (s *Server) Restart() error {
	s.Stop()
	return s.start()
}

// InProcessConn dials the current server; nats.go calls it at each (re)connect.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	ns := s.current
	s.mu.Unlock()
	return ns.InProcessConn()
}

// Tunnel copies bytes between an edge's connection and the server until either side or ctx ends. It closes both.
func (s *Server) Tunnel(ctx context.Context, edge net.Conn) error {
	inner, err := s.InProcessConn()
	if err != nil {
		return fmt.Errorf("dial bus: %w", err)
	}
	closeBoth := func() {
		inner.Close() //nolint:errcheck // over either way
		edge.Close()  //nolint:errcheck // over either way
	}
	stop := context.AfterFunc(ctx, closeBoth)
	defer stop()
	ends := make(chan error, 2)
	go copyInto(inner, edge, ends)
	go copyInto(edge, inner, ends)
	first := <-ends
	closeBoth()
	<-ends //nolint:errcheck // the first end is the cause, the second its consequence
	return first
}

func copyInto(dst io.Writer, src io.Reader, ends chan<- error) {
	_, err := io.Copy(dst, src)
	ends <- err
}

func randomSecret() string {
	raw := make([]byte, 32)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return hex.EncodeToString(raw)
}
