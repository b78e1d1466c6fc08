package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
)

// Limits of a connection, against clients that are slow on purpose (SEC9). Bodies have limits of their own.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 16 << 10
)

// listen serves HTTP until ctx ends, then lets the requests at hand finish. Sockets are the business of gate and uplink.
func (h *Hub) listen(ctx context.Context) error {
	server := h.newServer(h.services.handler)
	server.RegisterOnShutdown(h.services.followers.Shut) // streams would last as long as their runs
	return h.serve(ctx, server, entrance{setting: "HUB_ADDR", addr: h.opts.Config.Addr, ready: h.opts.Ready, open: func(url string) {
		h.log.Info("hub is ready", "addr", url)
	}})
}

// listenForCards serves /v1/ws, and nothing else, at an address of its own if there is one (architecture 11).
func (h *Hub) listenForCards(ctx context.Context) error {
	if h.opts.Config.CardsAddr == "" {
		return nil
	}
	server := h.newServer(httpapi.Only(h.services.handler, "/v1/ws", httpapi.AnswerProblem(h.log)))
	return h.serve(ctx, server, entrance{setting: "HUB_CARDS_ADDR", addr: h.opts.Config.CardsAddr, ready: h.opts.CardsReady, open: func(url string) {
		h.log.Info("cards have an address of their own", "addr", url)
	}})
}

// entrance is where a server is reached.
type entrance struct {
	setting string // that names it
	addr    string
	open    func(url string) // says in the log that it is there
	ready   func(net.Addr)   // may be nil
}

func (h *Hub) newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       mark,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
}

func (h *Hub) serve(ctx context.Context, server *http.Server, at entrance) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", at.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", at.setting, err)
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.opts.Config.StopTimeout/2)
		defer cancel()
		stopped <- server.Shutdown(grace)
	})
	scheme, serve := "http://", server.Serve
	if h.certificate != nil {
		server.TLSConfig = h.certificate.config()
		scheme, serve = "https://", func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	at.open(scheme + listener.Addr().String())
	if at.ready != nil {
		at.ready(listener.Addr())
	}
	err = serve(h.crowd.around(listener))
	if !errors.Is(err, http.ErrServerClosed) || stop() {
		return fmt.Errorf("serve: %w", err)
	}
	if err := <-stopped; err != nil {
		server.Close() //nolint:errcheck // what did not finish in time is cut off
	}
	return nil
}
