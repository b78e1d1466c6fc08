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

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Server is a bound listener with the handlers behind it.
type Server struct {
	listener net.Listener
	http     http.Server
	places   *places
	log      *slog.Logger
}

// Options of Listen. All are required but Origins and Tools.
type Options struct {
	Addr    string // host:port; the host must be loopback
	Token   Token
	Origins []Origin // of browser pages that may follow the events
	Edge    id.Edge
	Journal *journal.Journal
	Health  func() Health
	Tools   http.Handler // of clients, below /mcp/; it looks for the tokens of runs itself
	Metrics *telemetry.Registry
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
	followers := &places{free: maxFollowers}
	return &Server{listener: listener, places: followers, log: opts.Log, http: http.Server{
		Handler: localOnly(opts.Token.outOfURLs(routes(opts, followers))), ReadHeaderTimeout: headerLimit, ReadTimeout: requestLimit, WriteTimeout: requestLimit,
		IdleTimeout: idleLimit, MaxHeaderBytes: headerBytes, ErrorLog: slog.NewLogLogger(opts.Log.Handler(), slog.LevelWarn),
	}}, nil
}

func routes(opts Options, followers *places) http.Handler {
	stream := &events{
		journal: opts.Journal, edge: opts.Edge, origins: opts.Origins, places: followers, metrics: newMetrics(opts.Metrics), log: opts.Log,
	}
	snapshots := &runs{journal: opts.Journal, log: opts.Log}
	mux := http.NewServeMux()
	mux.Handle("GET /v1/health", healthHandler(opts.Token, opts.Health))
	mux.Handle("GET /v1/events", opts.Token.require(stream))
	mux.Handle("GET /v1/runs", opts.Token.require(http.HandlerFunc(snapshots.list)))
	mux.Handle("GET /v1/runs/{run_id}/events", opts.Token.require(http.HandlerFunc(snapshots.events)))
	if opts.Tools != nil {
		mux.Handle("/mcp/{run_id}", refusePages(opts.Origins, opts.Tools))
	}
	mux.Handle("GET /metrics", opts.Token.require(opts.Metrics.Handler()))
	return mux
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

// Run answers until ctx ends; then it closes the sockets of those who follow and waits for them.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.places.close()
	defer cancel()
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
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
			refuse(w, fault.New(fault.Forbidden, "This API answers programs of this machine only."))
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
