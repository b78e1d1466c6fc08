// Package rig starts the real binaries for system tests: a hub, edges, a fault proxy between them, and devices that record what they
// are shown. Everything lives in a folder of the test and on loopback ports that were free a moment ago.
package rig

import (
	"context"
	"path/filepath"
	"slices"
	"time"
)

// Patience is how long a test waits for something that should take moments, on a loaded machine with the race detector on.
const Patience = 60 * time.Second

// TB is what the rig needs of a test. Programs that are no test bring their own.
type TB interface {
	Helper()
	Context() context.Context
	TempDir() string
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Options say what is not as usual.
type Options struct {
	Bin     string   // folder of the programs; "": built for this process
	Env     []string // added to the hub's environment
	EdgeEnv []string // added to each edge's environment
	// Addr is that of a hub which the caller runs itself, with HubHome as its home; "": the rig starts one.
	Addr string
	Dir  string // of all state; "": a temporary folder
	TLS  bool   // the hub has a certificate, of an authority that edges and devices of the rig trust and nobody else does
	// Mixed says that a hub of another version takes part, whose answers the contract of this one does not describe.
	Mixed bool
}

// Rig is one hub, its edges and its devices. It is used by one test; everything it started is gone when the test ends.
type Rig struct {
	T     TB
	Dir   string
	Proxy *Proxy // between edges and the hub
	// Bootstrap is the token that made the first user; it is spent.
	Bootstrap string

	opts  Options
	addr  string
	trust *trust // nil without TLS
	hub   *Process
	owner *Device // the first user, as the device that set everything up
	edges []*Edge
}

// New returns a rig whose hub is running and whose first user exists.
func New(t TB, opts Options) *Rig {
	t.Helper()
	r := &Rig{T: t, Dir: opts.Dir, opts: opts, addr: opts.Addr}
	if r.Dir == "" {
		r.Dir = t.TempDir()
	}
	if r.opts.Bin == "" {
		r.opts.Bin = Programs(t)
	}
	if r.addr == "" {
		r.addr = FreeAddr(t)
	}
	if opts.TLS {
		r.trust = newTrust(t, r.Dir)
		r.opts.Env = append(slices.Clone(opts.Env), "HUB_TLS_CERT="+r.trust.cert, "HUB_TLS_KEY="+r.trust.key)
		r.opts.EdgeEnv = append(slices.Clone(opts.EdgeEnv), "SSL_CERT_FILE="+r.trust.root)
	}
	r.Proxy = newProxy(t, r.addr)
	r.Proxy.scheme = r.scheme()
	t.Cleanup(r.stop) // while the proxy is still there
	if opts.Addr == "" {
		r.StartHub()
	}
	r.owner = r.bootstrap()
	return r
}

// HubURL is where clients find the hub, past the proxy.
func (r *Rig) HubURL() string { return r.scheme() + r.addr }

// HubHome is the hub's folder.
func (r *Rig) HubHome() string { return HubHome(r.Dir) }

// HubHome is the folder of a hub of the rig in dir.
func HubHome(dir string) string { return filepath.Join(dir, "hub") }

// StartHub starts the hub on the rig's state and returns when it answers.
func (r *Rig) StartHub() {
	r.T.Helper()
	r.hub = Start(r.T, "hub", r.hubEnv(), r.Program("hub-server"))
	r.hub.WaitFor("hub is ready")
}

func (r *Rig) hubEnv() []string {
	own := []string{"HUB_HOME=" + r.HubHome(), "HUB_ADDR=" + r.addr, "HUB_ORIGINS=" + r.HubURL() + "," + r.Proxy.URL()}
	return append(own, r.opts.Env...)
}

// HubCommand runs a command of hub-server on the hub's state and returns what it printed. It must succeed.
func (r *Rig) HubCommand(args ...string) string {
	r.T.Helper()
	p := Start(r.T, "hub "+args[0], r.hubEnv(), r.Program("hub-server"), args...)
	if code := p.Wait(Patience); code != 0 {
		r.T.Fatalf("hub-server %v ended with code %d", args, code)
	}
	return p.Out().String()
}

// KillHub ends the hub with SIGKILL, as a crash would.
func (r *Rig) KillHub() { r.hub.Kill() }

// Hub is the running hub process.
func (r *Rig) Hub() *Process { return r.hub }

// Owner is the device that set everything up. It watches nothing.
func (r *Rig) Owner() *Device { return r.owner }

// MoveOwner lets the owner speak to another hub process from now on.
func (r *Rig) MoveOwner(hub string) { r.owner = r.Device("owner, moved", hub) }

// Program is the path of a program.
func (r *Rig) Program(name string) string { return filepath.Join(r.opts.Bin, name) }

// Eventually polls until ok holds, and fails the test when it does not in time.
func (r *Rig) Eventually(what string, ok func() bool) {
	r.T.Helper()
	const pause = 20 * time.Millisecond // between two looks at another process
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); !ok(); {
		if time.Now().After(deadline) {
			r.T.Fatalf("%s: waited %s in vain", what, Patience)
		}
		<-tick.C
	}
}

// stop ends everything as a person would, the edges first: they have last words for the hub.
func (r *Rig) stop() {
	for _, e := range r.edges {
		e.process.end()
		EndProcessesOf(Workspaces(e.Home)) // one that was killed has left its agents
	}
	if r.hub != nil {
		r.hub.end()
	}
}
