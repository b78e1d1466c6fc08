// Package hub wires a hub process together: it makes every part by hand, starts them in order and stops them in reverse. Everything
// else in hub-server is imported from here; only main and tests import it.
package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/switchyard-dev/switchyard/hub-server/internal/natsbus"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/durable"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Options are what a hub is made of.
type Options struct {
	Config  Config
	Log     *slog.Logger
	Version string

	// Store, if not nil, is used instead of opening Config's: two hubs of one process share a SQLite file this way. The caller closes it.
	Store *Store
	// Ready, if not nil, is called with the address as soon as the hub answers there.
	Ready func(addr net.Addr)
	// CardsReady is Ready for HUB_CARDS_ADDR.
	CardsReady func(addr net.Addr)
}

// Store is the record that hubs share.
type Store = sqlstore.Store

// OpenStore opens the store that a configuration names.
func OpenStore(ctx context.Context, c Config) (*Store, error) {
	if err := makeHome(c); err != nil {
		return nil, err
	}
	return sqlstore.Open(ctx, c.storeURL())
}

func makeHome(c Config) error {
	if err := durable.MakeFolder(c.Home); err != nil {
		return fmt.Errorf("make HUB_HOME: %w", err)
	}
	return nil
}

// Hub is one hub process, made and not yet running.
type Hub struct {
	opts     Options
	log      *slog.Logger
	name     string // tells this process from other hubs on the bus
	registry *telemetry.Registry
	store    *Store
	edgeBus  *natsbus.Server // embedded; edges' tunnels end here
	local    *natsbus.Bus    // our own connection to it
	hubBus   *natsbus.Bus    // to the other hubs; local when there are none
	crowd    *crowd          // of the listener
	closers  []func() error  // run in reverse order
	services services

	certificate *certificate // nil without TLS
}

// New makes a hub: opens its store, starts its bus and wires its services. Run it, then Close it.
func New(ctx context.Context, opts Options) (*Hub, error) {
	h := &Hub{
		opts: opts, log: opts.Log, name: string(id.NewConnection()),
		registry: telemetry.NewRegistry("switchyard_hub"), crowd: newCrowd(placesOfProcess()),
	}
	h.registry.Build(opts.Version)
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Hub) open(ctx context.Context) error {
	if err := h.openCertificate(); err != nil {
		return err
	}
	if err := h.openStore(ctx); err != nil {
		return err
	}
	if err := h.openBus(); err != nil {
		return err
	}
	return h.wire(ctx)
}

func (h *Hub) openCertificate() (err error) {
	c := h.opts.Config
	if c.TLSCert == "" {
		return nil
	}
	if h.certificate, err = newCertificate(c.TLSCert, c.TLSKey, h.log); err != nil {
		return err
	}
	h.registry.GaugeFunc("tls_certificate_expires_seconds", "When the certificate in use expires, in seconds since 1970.", h.certificate.expires)
	return nil
}

func (h *Hub) openStore(ctx context.Context) (err error) {
	if h.store = h.opts.Store; h.store != nil {
		return nil
	}
	if h.store, err = OpenStore(ctx, h.opts.Config); err != nil {
		return err
	}
	h.closers = append(h.closers, h.store.Close)
	return nil
}

func (h *Hub) openBus() (err error) {
	if h.edgeBus, err = natsbus.NewServer(h.log); err != nil {
		return err
	}
	h.closers = append(h.closers, func() error { h.edgeBus.Stop(); return nil })
	if h.local, err = h.edgeBus.Connect(); err != nil {
		return err
	}
	h.closers = append(h.closers, func() error { h.local.Close(); return nil })
	if h.hubBus = h.local; h.opts.Config.NATSURL == "" {
		return nil
	}
	if h.hubBus, err = natsbus.Dial(h.log, string(h.opts.Config.NATSURL), h.opts.Config.NATSCredentials); err != nil {
		return fmt.Errorf("HUB_NATS_URL: %w", err)
	}
	h.closers = append(h.closers, func() error { h.hubBus.Close(); return nil })
	return nil
}

// Close lets go of what New opened, in reverse order.
func (h *Hub) Close() error {
	var errs []error
	for i := len(h.closers) - 1; i >= 0; i-- {
		errs = append(errs, h.closers[i]())
	}
	h.closers = nil
	return errors.Join(errs...)
}

// RestartBus replaces the embedded bus by an empty one, as if it had crashed. Nothing is lost by it.
func (h *Hub) RestartBus() error { return h.edgeBus.Restart() }

// Run serves until ctx ends or a part fails, and returns when everything has stopped.
func (h *Hub) Run(ctx context.Context) error {
	s := &h.services
	return supervise.Run(ctx, h.log, h.opts.Config.StopTimeout,
		// The writer first: everything behind it still commits while it stops.
		supervise.Part{Name: "store writer", Run: s.writer.Run},
		supervise.Part{Name: "store checkpoints", Run: s.checkpointer.Run},
		// Before anything reads the record: from here on no format is switched on that this hub cannot read.
		supervise.Part{Name: "list of hubs", Run: s.peers.Run, Ready: s.peers.Ready()},
		supervise.Part{Name: "keys", Run: s.keys.Run},
		supervise.Part{Name: "audit seals", Run: s.sealer.Run},
		supervise.Part{Name: "retention", Run: s.trimmer.Run},
		supervise.Part{Name: "retention of notifications", Run: s.notices.Run},
		supervise.Part{Name: "archive", Run: s.archiver.Run},
		supervise.Part{Name: "device marks", Run: s.marks.Run},
		supervise.Part{Name: "volatile state", Run: s.run},
		supervise.Part{Name: "outbox tail", Run: s.tail.Run, Ready: s.tail.Ready()},
		supervise.Part{Name: "wake-ups", Run: h.listenForWakeups},
		supervise.Part{Name: "run watch", Run: s.watch.Run},
		supervise.Part{Name: "herald", Run: s.herald.Run},
		supervise.Part{Name: "question expiry", Run: s.expiry.Run},
		supervise.Part{Name: "end of dissolved conversations", Run: s.ending.Run},
		supervise.Part{Name: "watchdog of cards", Run: s.watchdog.Run},
		supervise.Part{Name: "pushes", Run: s.courier.Run},
		supervise.Part{Name: "unsent files", Run: s.files.Run},
		supervise.Part{Name: "index of the search", Run: s.indexer.Run},
		supervise.Part{Name: "client sockets", Run: s.gate.Run},
		supervise.Part{Name: "card sockets", Run: s.cardSockets.Run},
		supervise.Part{Name: "presence of friends", Run: s.friends.Run},
		supervise.Part{Name: "edge uplinks", Run: s.uplink.Run},
		supervise.Part{Name: "certificate", Run: h.certificate.run},
		// The listener last: nobody is let in before all of the above is there, and nobody new while it stops.
		supervise.Part{Name: "listener", Run: h.listen},
		supervise.Part{Name: "listener for cards", Run: h.listenForCards},
	)
}
