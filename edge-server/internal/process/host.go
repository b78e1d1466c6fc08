package process

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Limits are the resource limits of an agent and of each of its descendants. 0 leaves one as the edge has it.
type Limits struct {
	FileSize  uint64 // bytes of the largest file that it may write
	Processes uint64 // processes and threads of this user at once; not enforced for root
	Tasks     uint64 // processes and threads of one start at once; enforced where there is a control group that counts them
	CoreSize  uint64 // bytes of a core dump, plus one: 1 means none
}

// DefaultLimits stop a runaway file and a fork bomb, and nothing that a build or a test suite does.
func DefaultLimits() Limits {
	return Limits{FileSize: 8 << 30, Processes: 8192, Tasks: 4096, CoreSize: 1}
}

// Host starts agents for one edge process. Safe for concurrent use.
type Host struct {
	log     *slog.Logger
	limits  Limits
	groups  *groups
	large   *large
	watches sync.WaitGroup // one per leader that has not ended
	// unmarked is done when the system has refused the mark in the limits.
	unmarked sync.Once

	mu      sync.Mutex
	leaders map[int]struct{} // started by this Host and not reaped yet
}

// NewHost returns a Host whose agents get limits. One per process: Run collects orphans of the whole process.
func NewHost(log *slog.Logger, limits Limits) *Host {
	return &Host{log: log, limits: limits, groups: newGroups(log, limits.Tasks), large: newLarge(), leaders: map[int]struct{}{}}
}

// Sweep ends every process of this user that carries nonce or is in the control group of that start: what an earlier edge process left behind.
// It returns nil once none is left.
func (h *Host) Sweep(ctx context.Context, nonce Nonce) error {
	if !nonce.valid() {
		return fmt.Errorf("sweep: malformed nonce %.40q", nonce)
	}
	t := tree{nonce: nonce, group: h.groups.find(nonce)}
	deadline := time.Now().Add(killPatience)
	for pause := firstPause; ; pause = nextPause(pause) {
		left, gone, err := t.look()
		switch {
		case err != nil:
			return fmt.Errorf("sweep: %w", err)
		case gone:
			h.groups.close(t.group)
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("sweep: %d processes survive a kill", len(left))
		}
		h.log.Warn("ending what an earlier edge process left running", "processes", len(left))
		t.kill(left)
		if !sleep(ctx, pause) {
			return fmt.Errorf("sweep: %w", ctx.Err())
		}
	}
}

// The table is looked at again after 5 ms, then at growing distances.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 100 * time.Millisecond
)

func nextPause(pause time.Duration) time.Duration { return min(2*pause, lastPause) }

// sleep returns false when ctx ends first. Only processes that are not our children are waited for like this: nothing announces their end.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
