package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// startRestricted starts cmd in its control group, with limits, marked by one of them and without a way to gain privileges, all before its first instruction.
// no_new_privs belongs to a thread and is inherited by what the thread forks; it cannot be taken back, so the thread ends with its goroutine:
// it is never unlocked.
func (h *Host) startRestricted(cmd *exec.Cmd, in group, nonce Nonce) error {
	var err error
	var forked sync.WaitGroup
	forked.Go(func() {
		runtime.LockOSThread()
		keepInheritedFiles()
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err == nil {
			err = h.startLimited(cmd, in, nonce)
		}
	})
	forked.Wait()
	return err
}

// keepInheritedFiles keeps from agents what this process was given open by whoever started it: they get three pipes and nothing else. Its own
// files it has always kept. Kernels before 5.11 cannot.
func keepInheritedFiles() {
	const firstOther = 3
	_ = unix.CloseRange(firstOther, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// startLimited limits the process that it starts and everything that this will fork.
func (h *Host) startLimited(cmd *exec.Cmd, in group, nonce Nonce) error {
	stopped, err := h.startStopped(cmd, in)
	if err != nil {
		return err
	}
	if err := h.limit(cmd.Process.Pid, stopped, in, nonce); err != nil {
		return errors.Join(fmt.Errorf("set resource limits: %w", err), cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// startStopped lets the new process be born in its group and stop at its exec, as a debugger would: nothing else limits another process
// between its fork and its first instruction. Containers and old kernels refuse one or the other. Without the group the other marks have to
// do; without the stop, the limits come a moment after the start. An edge that is killed before its child asks to be traced leaves it stopped for
// ever, traced by init, before its first instruction: the sweep ends it like any other.
func (h *Host) startStopped(cmd *exec.Cmd, in group) (stopped bool, err error) {
	var folder *os.File
	var refusal error
	if in.unified != "" {
		if folder, refusal = os.Open(in.unified); refusal == nil {
			defer folder.Close() //nolint:errcheck // opened for the start alone
		}
	}
	plain := *cmd
	for _, way := range []struct{ grouped, traced bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
		if way.grouped && folder == nil {
			continue
		}
		attributes := *plain.SysProcAttr
		attributes.Ptrace, attributes.UseCgroupFD = way.traced, way.grouped
		if way.grouped {
			attributes.CgroupFD = int(folder.Fd())
		}
		*cmd = plain
		cmd.SysProcAttr = &attributes
		err = cmd.Start()
		switch {
		case err != nil && way.grouped:
			refusal = err
		case err == nil && !way.grouped && in.unified != "":
			h.groups.refuse(refusal)
			return way.traced, nil
		case err == nil:
			return way.traced, nil
		}
	}
	return false, err
}

// limit needs a process that has only just been made: everything it forks from now on inherits the limits.
func (h *Host) limit(pid int, stopped bool, in group, nonce Nonce) error {
	if stopped {
		if err := awaitStop(pid); err != nil {
			return err
		}
	}
	if err := gone(in.enter(pid)); err != nil {
		h.groups.refuse(err)
	}
	if err := markByLimit(pid, nonce); err != nil {
		h.unmarked.Do(func() { h.log.Info("agents run without a mark in their limits", "reason", err) })
	}
	err := h.limits.set(pid)
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
