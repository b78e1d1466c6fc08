package rig

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a program that the rig has started. Its output is kept and shown when the test fails. Safe for concurrent use.
type Process struct {
	t    TB
	name string
	cmd  *exec.Cmd
	out  *Output // what it prints for people and programs
	log  *Output // what it logs
	done chan struct{}
	wait sync.WaitGroup
}

// stopPatience is how long a clean stop may take before it counts as a failure.
const stopPatience = 20 * time.Second

// A program with the race detector ends a second late, so that what its other threads still do is seen. A hub or an edge has stopped all
// its parts by then.
const (
	raceVariable = "GORACE"
	raceSetting  = "atexit_sleep_ms=0"
)

// Start runs a program with env and nothing else of this process's environment but PATH. It is killed at the end of the test if it still
// runs then.
func Start(t TB, name string, env []string, program string, args ...string) *Process {
	t.Helper()
	return StartReading(t, "", name, env, program, args...)
}

// StartReading is Start for a program that reads input on standard input.
func StartReading(t TB, input, name string, env []string, program string, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, name: name, cmd: exec.Command(program, args...), out: newOutput(), log: newOutput(), done: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", raceVariable + "=" + raceSetting}, env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = strings.NewReader(input), p.out, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	p.wait.Go(func() {
		p.cmd.Wait() //nolint:errcheck // how it ended is asked of ProcessState
		close(p.done)
	})
	t.Cleanup(func() {
		p.Kill()
		p.wait.Wait()
		if t.Failed() {
			t.Logf("---- %s printed ----\n%s\n---- %s logged ----\n%s", name, p.out.tail(), name, p.log.tail())
		}
	})
	return p
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Out is what the process has written to standard output.
func (p *Process) Out() *Output { return p.out }

// Log is what the process has written to standard error.
func (p *Process) Log() *Output { return p.log }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.done }

// Kill ends the process with SIGKILL and returns when it is gone.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL); <-p.done }

// Pause stops the process as a closed laptop lid would.
func (p *Process) Pause() { p.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() { p.Signal(syscall.SIGCONT) }

// Stop asks the process to end and fails the test if it does not end soon, or not with code 0.
func (p *Process) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	if code := p.Wait(stopPatience); code != 0 {
		p.t.Errorf("%s ended with code %d", p.name, code)
	}
}

// Wait returns the exit code; -1 if a signal ended the process.
func (p *Process) Wait(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.t.Fatalf("%s did not end within %s", p.name, limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

// end is Stop for a process that may be gone already.
func (p *Process) end() {
	select {
	case <-p.done:
	default:
		p.Stop()
	}
}

// Signal sends a signal; none if the process has ended.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		p.cmd.Process.Signal(s) //nolint:errcheck // it may be ending right now
	}
}

// WaitFor returns when the process has printed or logged something that contains text.
func (p *Process) WaitFor(text string) {
	p.t.Helper()
	select {
	case <-p.out.seen(text):
	case <-p.log.seen(text):
	case <-p.done:
		p.t.Fatalf("%s ended before it printed %q", p.name, text)
	case <-time.After(Patience):
		p.t.Fatalf("%s did not print %q", p.name, text)
	}
}
