// Package up runs a hub and an edge on this machine for one person: it prepares their state at the first start, supervises both
// processes, and stops them in order. It is what `make run` does.
package up

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	stopGrace = 25 * time.Second // for each server to stop cleanly
	allGrace  = 2*stopGrace + 5*time.Second
)

// Config is what Run needs to know.
type Config struct {
	State     string   // folder of everything that is kept
	Workspace string   // folder that the shipped agents look at
	HubAddr   string   // host:port; the next free port is taken if this one is not
	EdgeAddr  string   // the same, for the edge's local API
	Programs  string   // folder with hub-server and edge-server
	Environ   []string // what both servers inherit
	Yard      string   // how a person calls yard, for what is printed
	WorkDir   string   // of the person, for what is printed
	Version   string
	JSON      bool // print one line for programs when ready, instead of the banner
	Out, Err  io.Writer
	Style     screen.Style
}

// Run starts hub and edge, says how to use them, and blocks until ctx ends or one of them fails for good. A second interruption kills them.
func Run(ctx context.Context, c Config) error {
	if err := plain(c.Environ); err != nil {
		return err
	}
	s, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.choosePorts(); err != nil {
		return err
	}
	defer s.listen(ctx)()
	h := s.server("hub", "hub-server", "HUB_HOME="+s.dir("hub"), "HUB_ADDR="+s.hubAddr)
	e := s.server("edge", "edge-server", "EDGE_HOME="+s.dir("edge"), "EDGE_ADDR="+s.edgeAddr, "EDGE_HUB_URL="+s.hubURL, "EDGE_REPOSITORY="+c.Workspace)
	hubReady, prepared, edgeReady := make(chan struct{}), make(chan struct{}), make(chan struct{})
	err = supervise.Run(ctx, slog.New(slog.DiscardHandler), allGrace,
		// The edge stops before the hub, so that its last rows still find their way.
		supervise.Part{Name: "hub", Ready: hubReady, Run: h.until(hubReady, s.hubAnswers)},
		supervise.Part{Name: "first start", Ready: prepared, Run: then(prepared, s.prepare)},
		supervise.Part{Name: "edge", Ready: edgeReady, Run: e.until(edgeReady, s.edgeOnline)},
		supervise.Part{Name: "welcome", Run: s.welcome},
	)
	switch {
	case err != nil:
	case s.killed():
		s.progress("killed; nothing that was recorded is lost")
	default:
		s.progress("stopped; the state stays in %s", s.short(c.State))
	}
	return err
}

// then runs fn and says afterwards that the next part may start.
func then(ready chan<- struct{}, fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		close(ready)
		return nil
	}
}

// state is a state folder that this process holds.
type state struct {
	Config
	lock      *os.File
	home      home.Home
	hubAddr   string
	hubURL    string
	edgeAddr  string
	recording sync.Mutex // held while record changes and is saved
	record    record
	insistence
	fresh   *account // made in this start
	started time.Time
}

func (s *state) dir(names ...string) string {
	return filepath.Join(append([]string{s.State}, names...)...)
}

// progress tells what is going on, on the side of errors: output is for the banner.
func (s *state) progress(format string, args ...any) {
	fmt.Fprintf(s.Err, s.Style.Dim("switchyard:")+" "+format+"\n", args...)
}

// short is a path as a person in the working directory would write it.
func (s *state) short(path string) string {
	if rel, err := filepath.Rel(s.WorkDir, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	return path
}
