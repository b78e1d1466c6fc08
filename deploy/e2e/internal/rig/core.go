package rig

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/hub"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Core is a hub inside the test's own process, for faults that no signal can cause.
type Core struct {
	*hub.Hub
	Addr string // where it listens
	Log  *Output
}

// CoreConfig reads a hub's configuration from env, with its home in dir and a port that was free a moment ago.
func CoreConfig(t TB, dir string, env ...string) hub.Config {
	t.Helper()
	config, err := hub.LoadConfig(append([]string{"HUB_HOME=" + HubHome(dir), "HUB_ADDR=" + FreeAddr(t)}, env...))
	if err != nil {
		t.Fatalf("configure hub: %v", err)
	}
	return config
}

// StartCore makes and runs a hub until the end of the test. store may be nil: then the hub opens its own.
func StartCore(t TB, config hub.Config, store *hub.Store) *Core {
	t.Helper()
	c := &Core{Log: newOutput()}
	log, err := telemetry.NewLogger(c.Log, "info")
	if err != nil {
		t.Fatalf("make logger: %v", err)
	}
	ready := make(chan string, 1)
	c.Hub, err = hub.New(t.Context(), hub.Options{
		Config: config, Log: log, Version: "test", Store: store, Ready: func(addr net.Addr) { ready <- addr.String() },
	})
	if err != nil {
		t.Fatalf("make hub: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Errorf("hub: %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := c.Close(); err != nil {
			t.Errorf("close hub: %v", err)
		}
		if t.Failed() {
			t.Logf("---- hub at %s logged ----\n%s", c.Addr, c.Log.tail())
		}
	})
	select {
	case c.Addr = <-ready:
	case <-time.After(Patience):
		t.Fatalf("hub did not become ready")
	}
	return c
}
