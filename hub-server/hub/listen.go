package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection, against clients that are slow on purpose (SEC9). Bodies have limits of their own.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 16 << 10
)

// listen serves HTTP until ctx ends, then lets the requests at hand finish. Sockets are the business of gate and uplink.
func (h *Hub) listen(ctx context.Context) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", h.opts.Config.Addr)
	if err != nil {
		return fmt.Errorf("listen on HUB_ADDR: %w", err)
	}
	server := &http.Server{
		Handler:           h.services.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       mark,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(h.services.followers.Shut) // streams would last as long as their runs
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
	h.log.Info("hub is ready", "addr", scheme+listener.Addr().String())
	if h.opts.Ready != nil {
		h.opts.Ready(listener.Addr())
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
