package process

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// startRestricted starts cmd with limits and without a way to gain privileges, both before its first instruction. no_new_privs belongs to a
// thread and is inherited by what the thread forks; it cannot be taken back, so the thread ends with its goroutine: it is never unlocked.
func startRestricted(cmd *exec.Cmd, limits Limits) error {
	var err error
	var forked sync.WaitGroup
	forked.Go(func() {
		runtime.LockOSThread()
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err == nil {
			err = startStopped(cmd, limits)
		}
	})
	forked.Wait()
	return err
}

// startStopped lets the new process stop at its exec, as a debugger would, limits it there and lets go. Nothing else limits another process
// between its fork and its first instruction. Where tracing is forbidden, the limits come a moment after the start.
func startStopped(cmd *exec.Cmd, limits Limits) error {
	plain := *cmd
	traced := *cmd.SysProcAttr
	traced.Ptrace = true
	cmd.SysProcAttr = &traced
	err := cmd.Start()
	stopped := err == nil
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		*cmd = plain
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	if err := limits.apply(cmd.Process.Pid, stopped); err != nil {
		return errors.Join(fmt.Errorf("set resource limits: %w", err), cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// apply limits a process that has only just been made: everything it forks from now on inherits them.
func (l Limits) apply(pid int, stopped bool) error {
	if stopped {
		if err := awaitStop(pid); err != nil {
			return err
		}
	}
	err := l.set(pid)
	if stopped {
		err = errors.Join(err, gone(unix.PtraceDetach(pid)))
	}
	return err
}

// awaitStop leaves the state of the child to be waited for: it may be its end.
func awaitStop(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (l Limits) set(pid int) error {
	limits := []struct {
		resource int
		value    uint64
		given    bool
	}{
		{unix.RLIMIT_FSIZE, l.FileSize, l.FileSize > 0},
		{unix.RLIMIT_NPROC, l.Processes, l.Processes > 0},
		{unix.RLIMIT_CORE, l.CoreSize - 1, l.CoreSize > 0},
	}
	for _, limit := range limits {
		if !limit.given {
			continue
		}
		var now unix.Rlimit
		if err := unix.Prlimit(pid, limit.resource, nil, &now); err != nil {
			return gone(err)
		}
		value := min(limit.value, now.Max)
		if err := unix.Prlimit(pid, limit.resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return gone(err)
		}
	}
	return nil
}

// gone: a process that has already ended needs nothing.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
