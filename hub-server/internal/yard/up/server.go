package up

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// server is one of the two programs.
type server struct {
	s       *state
	name    string
	program string
	env     []string
	begun   chan struct{} // closed once pid is known
	pid     int
}

func (s *state) server(name, program string, env ...string) *server {
	return &server{s: s, name: name, program: program, env: env, begun: make(chan struct{})}
}

func (v *server) log() string { return v.s.dir("logs", v.name+".log") }

// until returns a part that runs the server, and closes ready once the check says that it works.
func (v *server) until(ready chan<- struct{}, check func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		return supervise.All(ctx, v.run, then(ready, func(ctx context.Context) error {
			select {
			case <-v.begun: // what answers before that is not this server
			case <-ctx.Done():
				return ctx.Err()
			}
			err := check(ctx)
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("%w\n%s", err, v.lastWords())
			}
			return err
		}))
	}
}

// run starts the server and blocks until it has ended. When ctx ends, it is asked to stop.
func (v *server) run(ctx context.Context) error {
	log, err := newLog(v.log())
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the server wrote it
	cmd := exec.CommandContext(ctx, filepath.Join(v.s.Programs, v.program))
	cmd.Env = append(append([]string{}, v.s.Environ...), v.env...)
	cmd.Dir = v.s.Workspace
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace // then it is killed
	if err := cmd.Start(); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is not in %s; `make build` makes it", v.program, v.s.Programs)
		}
		return fmt.Errorf("start %s: %w", v.program, err)
	}
	v.s.add(cmd.Process)
	if err := v.started(cmd.Process.Pid); err != nil {
		return errors.Join(err, cmd.Cancel(), cmd.Wait())
	}
	err = cmd.Wait()
	if ctx.Err() != nil || v.s.killed() {
		return ctx.Err()
	}
	return fmt.Errorf("%s has stopped by itself (%s)\n%s", v.program, how(err), v.lastWords())
}

func (v *server) started(pid int) error {
	v.pid = pid
	if v.name == "hub" {
		v.s.record.HubPID = pid
	} else {
		v.s.record.EdgePID = pid
	}
	err := v.s.save()
	close(v.begun)
	return err
}

func how(err error) string {
	if err == nil {
		return "without an error"
	}
	return err.Error()
}

// lastWords are the last lines of the server's log, and where the rest is.
func (v *server) lastWords() string {
	lines := slices.DeleteFunc(tail(v.log(), 200), routine)
	if len(lines) == 0 {
		return "It has logged no error; what it did is in " + v.s.short(v.log()) + "."
	}
	return "Its last words, of " + v.s.short(v.log()) + ":\n  " + strings.Join(lines[max(0, len(lines)-8):], "\n  ")
}
