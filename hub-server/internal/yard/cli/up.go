package cli

import (
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/up"
)

type upCmd struct {
	State     string `default:".switchyard" placeholder:"DIR" type:"path" help:"Folder of everything that is kept (default: .switchyard)."`
	Workspace string `default:"." placeholder:"DIR" type:"path" env:"EDGE_REPOSITORY" help:"Folder that the shipped agents look at (default: this one)."`
	HubAddr   string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" env:"HUB_ADDR" help:"Where the hub listens; the next free port if that one is taken (default: 127.0.0.1:8080)."`
	EdgeAddr  string `default:"127.0.0.1:3210" placeholder:"HOST:PORT" env:"EDGE_ADDR" help:"Where the edge's local API listens; likewise (default: 127.0.0.1:3210)."`
	JSONReady bool   `name:"json-ready" help:"When ready, print one line of JSON with addresses and process ids instead of the banner."`
}

// Help is shown below the usage.
func (upCmd) Help() string {
	return `The first start makes a user, a login for yard and an edge, all below the state folder; a second one goes on with them. It needs
hub-server and edge-server beside yard. Ctrl-C stops both cleanly, a second Ctrl-C kills them.

Examples:
  yard up
  yard up --state /tmp/try --workspace ~/src/project --hub-addr 127.0.0.1:0`
}

// Run runs a hub and an edge until Ctrl-C.
func (c upCmd) Run(s *session) error {
	return up.Run(s.ctx, up.Config{
		State: c.State, Workspace: c.Workspace, HubAddr: c.HubAddr, EdgeAddr: c.EdgeAddr,
		Programs: filepath.Dir(s.Executable), Environ: os.Environ(), Yard: s.calledAs(), WorkDir: s.WorkDir, Version: s.Version,
		JSON: c.JSONReady || s.json, Out: s.Out, Err: s.Err, Style: s.style,
	})
}

// calledAs is how a person in this folder can call this program again.
func (s *session) calledAs() string {
	if rel, err := filepath.Rel(s.WorkDir, s.Executable); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return s.Executable
}
