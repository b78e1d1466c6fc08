// Package localapi is what an edge answers on loopback, to programs of the same machine (api/edge.yaml). It listens nowhere else, and it
// refuses a request whose Host is not a loopback name, so that a web page cannot reach it by rebinding a name.
package localapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Server is a bound listener with the handlers behind it.
type Server struct {
	listener net.Listener
	http     http.Server
	log      *slog.Logger
}

// Options of Listen. All are required.
type Options struct {
	Addr    string // host:port; the host must be loopback
	Token   Token
	Health  func() Health
	Metrics http.Handler
	Log     *slog.Logger
}

const (
	headerLimit  = 5 * time.Second
	requestLimit = 10 * time.Second
	idleLimit    = time.Minute
	headerBytes  = 16 << 10
)

// Listen binds the address. Nothing is answered before Run.
func Listen(ctx context.Context, opts Options) (*Server, error) {
	if err := CheckAddr(opts.Addr); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for local programs: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /v1/health", healthHandler(opts.Token, opts.Health))
	mux.Handle("GET /metrics", opts.Token.require(opts.Metrics))
	return &Server{listener: listener, log: opts.Log, http: http.Server{
		Handler: localOnly(mux), ReadHeaderTimeout: headerLimit, ReadTimeout: requestLimit, WriteTimeout: requestLimit,
		IdleTimeout: idleLimit, MaxHeaderBytes: headerBytes, ErrorLog: slog.NewLogLogger(opts.Log.Handler(), slog.LevelWarn),
	}}, nil
}

// CheckAddr says what is wrong with an address to listen on: it must name a loopback host.
func CheckAddr(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("want host:port: %w", err)
	}
	if !loopback(host) {
		return fmt.Errorf("%q is not a loopback host: an edge listens on its own machine only", host)
	}
	return nil
}

// Addr is where the server listens, with the real port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run answers until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	stopped := context.AfterFunc(ctx, func() {
		if err := s.http.Close(); err != nil {
			s.log.Warn("local API did not close cleanly", "error", err)
		}
	})
	defer stopped()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve local programs: %w", err)
	}
	return nil
}

// localOnly refuses a Host that is not loopback.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !loopback(host) {
			http.Error(w, "this API answers programs of this machine only", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
