package up

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clearUpWithin bounds how long servers of an earlier start may take to stop.
const clearUpWithin = 15 * time.Second

// clearUp stops servers that an earlier process has left behind because it was killed: they hold the store and the journal.
func (s *state) clearUp(ctx context.Context, before record) {
	ctx, cancel := context.WithTimeout(ctx, clearUpWithin)
	defer cancel()
	for program, pid := range map[string]int{"edge-server": before.EdgePID, "hub-server": before.HubPID} {
		if pid <= 0 || !runs(ctx, pid, program) {
			continue
		}
		s.progress("stopping a %s that an earlier start has left behind", program)
		if syscall.Kill(pid, syscall.SIGTERM) != nil {
			continue
		}
		poll(ctx, func() bool { return !runs(ctx, pid, program) })
	}
}

// runs says whether the process is alive and is that program: its number may have been given to another one.
func runs(ctx context.Context, pid int, program string) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "comm=", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	name, stat, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return err == nil && filepath.Base(name) == program && !strings.HasPrefix(strings.TrimSpace(stat), "Z")
}

const pollEvery = 20 * time.Millisecond

// poll waits until fn is true; false if ctx ends before.
func poll(ctx context.Context, fn func() bool) bool {
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for !fn() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
