// Package process starts agent programs and is sure of their end. An agent is an argv without a shell, in a session of its own, with an
// environment from a short list; its end is the end of everything it started (SEC19, promise P16).
//
// A Host belongs to one edge process. Each Process has one owner, who calls Follow once and may read nothing but its result.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Defaults and bounds.
const (
	DefaultGrace = 5 * time.Second // between TERM and KILL (S4 kill_grace_secs)
	MaxLine      = 10 << 20        // bytes kept of one line of output
	MaxStderr    = 1 << 20         // bytes kept of the end of stderr

	// killPatience is how long KILL may take before the tree is reported as not gone.
	killPatience = 2 * time.Second
	// waitDelay is how long output may be held open by something that outlived the tree.
	waitDelay = 2 * time.Second
	// maxLeftOutput is more than a pipe can hold: what is read after the tree is gone and was written before.
	maxLeftOutput = 1 << 20
)

// Spec is what to start.
type Spec struct {
	Argv  []string // Argv[0] is a path, or a name that is looked up in PATH of Env
	Dir   string   // absolute
	Env   []string // the whole environment; see Environment
	Nonce Nonce
	Grace time.Duration // between TERM and KILL
	// Stdout and Stderr get what the agent writes, as it comes and beside what Follow makes of it; nil for nothing. Each is used by one
	// goroutine. The first error of one ends the reading of that stream.
	Stdout, Stderr io.Writer
}

// Process is a started agent.
type Process struct {
	host   *Host
	cmd    *exec.Cmd
	self   entry // as the process table had it right after the start
	nonce  Nonce
	group  group
	grace  time.Duration
	stdin  *os.File
	stdout *drain
	stderr *drain
	copies [2]io.Writer // of stdout and stderr; nil for none
}

// ErrNotStarted is wrapped by every error of Start: no process exists.
var ErrNotStarted = errors.New("agent not started")

// Start spawns spec and returns once the process exists. What it says waits in its pipes until Follow.
func (h *Host) Start(spec Spec) (*Process, error) {
	cmd, err := command(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, fmt.Errorf("%w: open pipes: %w", ErrNotStarted, err)
	}
	defer pipes.closeTheirs()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	in := h.groups.open(spec.Nonce)
	if err := h.spawn(cmd, in, spec.Nonce); err != nil {
		h.groups.close(in)
		pipes.closeOurs()
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	self := lookup(cmd.Process.Pid)
	self.pid = cmd.Process.Pid // even where the table cannot be read: it names the group
	return &Process{
		host: h, cmd: cmd, self: self, nonce: spec.Nonce, group: in, grace: spec.Grace,
		stdin: pipes.ours[0], stdout: newDrain(pipes.ours[1]), stderr: newDrain(pipes.ours[2]), copies: [2]io.Writer{spec.Stdout, spec.Stderr},
	}, nil
}

// PID is the process id of the leader, which is also its process group and its session.
func (p *Process) PID() int { return p.cmd.Process.Pid }

func command(spec Spec) (*exec.Cmd, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return nil, errors.New("no command")
	}
	path, err := findExecutable(spec.Argv[0], spec.Env)
	if err != nil {
		return nil, err
	}
	// Not exec.Command: that would look the name up in the PATH of the edge.
	return &exec.Cmd{
		Path: path, Args: spec.Argv, Dir: spec.Dir, Env: spec.Env,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}, nil
}

// spawn holds the lock from before the fork until the leader is known, so that the reaper never takes it for an orphan.
func (h *Host) spawn(cmd *exec.Cmd, in group, nonce Nonce) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.startRestricted(cmd, in, nonce); err != nil {
		return err
	}
	h.leaders[cmd.Process.Pid] = struct{}{}
	return nil
}

// reap collects the leader. Until then its pid names it and its group, and nothing else.
func (p *Process) reap() *os.ProcessState {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	// An error here is an exit code other than 0, which the state tells too.
	_ = p.cmd.Wait()
	delete(p.host.leaders, p.cmd.Process.Pid)
	return p.cmd.ProcessState
}

// files are the edge's ends of the pipes.
func (p *Process) files() []*os.File { return []*os.File{p.stdin, p.stdout.file, p.stderr.file} }

// abandon gives a leader that does not end to the reaper.
func (p *Process) abandon() {
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	delete(p.host.leaders, p.cmd.Process.Pid)
}

// pipes are stdin, stdout and stderr; ours are the ends that the edge keeps.
type pipes struct{ ours, theirs [3]*os.File }

func openPipes() (*pipes, error) {
	var p pipes
	for i := range p.ours {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeOurs()
			p.closeTheirs()
			return nil, err
		}
		p.ours[i], p.theirs[i] = r, w
		if i == 0 {
			p.ours[i], p.theirs[i] = w, r
		}
	}
	return &p, nil
}

func (p *pipes) closeOurs()   { closeAll(p.ours[:]) }
func (p *pipes) closeTheirs() { closeAll(p.theirs[:]) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
