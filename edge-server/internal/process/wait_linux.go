package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended, and leaves it unreaped.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Run makes this process the parent of whatever its agents orphan, so that descent stays visible, and reaps those orphans until ctx ends. It
// begins by removing the empty control groups of earlier processes.
// Start it before the first agent, and in one Host of a process only.
func (h *Host) Run(ctx context.Context) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become child subreaper: %w", err)
	}
	h.groups.tidy()
	ended := make(chan os.Signal, 1) // one is enough: a look at the table sees all that have ended
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			h.reapOrphans()
		}
	}
}

// reapOrphans leaves children alone that somebody waits for: leaders, and what this process started by other means, which is in the
// edge's own session.
func (h *Host) reapOrphans() {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, err := processTable()
	if err != nil {
		h.log.Warn("cannot look for ended orphans", "error", err)
		return
	}
	self := lookup(os.Getpid())
	for _, e := range all {
		_, leader := h.leaders[e.pid]
		if e.zombie && e.ppid == self.pid && e.sid != self.sid && !leader {
			// Nobody else reaps it, so the only error is that it is not a child any more.
			_, _ = unix.Wait4(e.pid, nil, unix.WNOHANG, nil)
		}
	}
}
