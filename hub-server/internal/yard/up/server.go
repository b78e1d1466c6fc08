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
	"sync"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// A server that worked and then died by itself is started again, so often in a row; nothing that was recorded is lost by that.
const (
	maxRevivals = 5
	goodLife    = time.Minute // after which deaths before do not count
)

// server is one of the two programs.
type server struct {
	s       *state
	name    string
	program string
	env     []string
	begun   chan struct{} // closed once pid is known; made anew for each start
}

func (s *state) server(name, program string, env ...string) *server {
	return &server{s: s, name: name, program: program, env: env}
}

func (v *server) log() string { return v.s.dir("logs", v.name+".log") }

// until returns a part that keeps the server running, and closes ready once the check says that it works for the first time.
func (v *server) until(ready chan<- struct{}, check func(context.Context) error) func(context.Context) error {
	first := sync.OnceFunc(func() { close(ready) })
	return func(ctx context.Context) error {
		for revivals := 0; ; revivals++ {
			begun := time.Now()
			worked, err := v.once(ctx, check, first)
			if time.Since(begun) > goodLife {
				revivals = 0
			}
			if ctx.Err() != nil || v.s.killed() || !worked || revivals == maxRevivals {
				return err
			}
			v.s.progress("%v", err)
			v.s.progress("starting %s again; what was recorded is still there", v.program)
		}
	}
}

// once runs the server until it ends; worked says whether the check had passed by then.
func (v *server) once(ctx context.Context, check func(context.Context) error, ready func()) (worked bool, err error) {
	v.begun = make(chan struct{})
	err = supervise.All(ctx, v.run, func(ctx context.Context) error {
		select {
		case <-v.begun: // what answers before that is not this server
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := check(ctx); err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("%w\n%s", err, v.lastWords())
			}
			return err
		}
		worked = true
		ready()
		return nil
	})
	return worked, err
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
	v.s.recording.Lock()
	defer v.s.recording.Unlock()
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
