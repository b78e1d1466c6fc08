package rig

import (
	"path/filepath"
	"slices"
	"strings"
)

// Peer is a further hub process over the store and bus of the rig's hub.
type Peer struct {
	Name string
	URL  string

	rig     *Rig
	program string
	env     []string
	process *Process
}

// AddHub starts another hub process over the same store and bus, which Options.Env must name, and returns its URL. own is what its environment
// has besides, or instead.
func (r *Rig) AddHub(name string, own ...string) string {
	r.T.Helper()
	return r.AddPeer(name, own...).URL
}

// AddPeer is AddHub for a test that stops or kills the other hub too.
func (r *Rig) AddPeer(name string, own ...string) *Peer {
	r.T.Helper()
	return r.AddPeerOf(r.Program("hub-server"), name, own...)
}

// AddPeerOf is AddPeer with another program, of another version say.
func (r *Rig) AddPeerOf(program, name string, own ...string) *Peer {
	r.T.Helper()
	addr := FreeAddr(r.T)
	p := &Peer{Name: name, URL: r.scheme() + addr, rig: r, program: program, env: slices.Concat([]string{
		"HUB_HOME=" + filepath.Join(r.Dir, name), "HUB_ADDR=" + addr, "HUB_KEYS_FILE=" + filepath.Join(r.HubHome(), "keys.json"),
		"HUB_ORIGINS=" + r.scheme() + addr + "," + r.Proxy.URL(),
	}, r.opts.Env, own)}
	p.Start()
	r.T.Cleanup(func() { p.process.end() })
	return p
}

// Addr is where the hub listens.
func (p *Peer) Addr() string { return strings.TrimPrefix(p.URL, p.rig.scheme()) }

// Start starts the hub on its state and returns when it answers.
func (p *Peer) Start() {
	p.rig.T.Helper()
	p.process = Start(p.rig.T, p.Name, p.env, p.program)
	p.process.WaitFor("hub is ready")
}

// Process is the running hub process.
func (p *Peer) Process() *Process { return p.process }

// Stop asks the hub to end, as an update does.
func (p *Peer) Stop() {
	p.rig.T.Helper()
	p.process.Stop()
}

// Kill ends the hub with SIGKILL, as a crash would.
func (p *Peer) Kill() { p.process.Kill() }
