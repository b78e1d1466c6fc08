package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProcessThatShedParentSessionAndEnvironmentEndsWithItsAgentWithoutAGroup(t *testing.T) {
	t.Run("when the agent is stopped", func(t *testing.T) {
		orphan, exit := escapeFrom(t, "escape", true)
		if !exit.Stopped || !exit.Gone || runs(orphan) {
			t.Errorf("exit %+v, it runs: %v", exit, runs(orphan))
		}
	})
	t.Run("when the agent ends by itself", func(t *testing.T) {
		orphan, exit := escapeFrom(t, "escape-and-end", false)
		if exit.Left != 1 || exit.Code != 0 || !exit.Gone || runs(orphan) {
			t.Errorf("exit %+v, it runs: %v", exit, runs(orphan))
		}
	})
}

// The positive control of the test above: without the mark in the limits nothing leads to such a process.
func TestProcessThatTookTheMarkOffItsLimitsTooIsSeenToSurviveWithoutAGroup(t *testing.T) {
	orphan, exit := escapeFrom(t, "take-limit-off", false)
	defer signalOne(orphan, syscall.SIGKILL)
	if exit.Left != 0 || !runs(orphan) {
		t.Errorf("exit %+v, it runs: %v: the test of escapes proves nothing", exit, runs(orphan))
	}
}

// escapeFrom plays an agent without a group and returns the pid of what escaped from it.
func escapeFrom(t *testing.T, part string, stopIt bool) (orphan int, exit Exit) {
	t.Helper()
	host := hostWithoutGroups()
	runHost(t, host) // as the edge does: what escapes becomes its child
	p, err := host.Start(agent(t, part))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	exit = p.Follow(ctx, NewInput(), func(l Line) {
		orphan = number(t, l.Text)
		if stopIt {
			await(t, "it has shed its parent, its session and its environment", func() bool { return hidden(orphan) })
			stop()
		}
	})
	if orphan == 0 {
		t.Fatalf("nothing escaped: %+v", exit)
	}
	return orphan, exit
}

// hidden says whether a child of this process has shed what agents are usually known by.
func hidden(pid int) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	e := lookup(pid)
	return err == nil && len(environ) == 0 && e.ppid == os.Getpid() && e.sid == pid
}

func runs(pid int) bool {
	e := lookup(pid)
	return e.pid != 0 && !e.zombie
}

func TestSweepEndsWhatEscapedFromAKilledEdgeWithoutGroups(t *testing.T) {
	nonce := NewNonce()
	orphan := number(t, []byte(killEdge(t, nonce, "escape", "without groups")))
	if !runs(orphan) {
		t.Fatal("it has ended with the edge: the test proves nothing")
	}
	if err := hostWithoutGroups().Sweep(t.Context(), NewNonce()); err != nil || !runs(orphan) {
		t.Fatalf("the sweep of another start ended it, or failed: %v", err)
	}
	if err := hostWithoutGroups().Sweep(t.Context(), nonce); err != nil || runs(orphan) {
		t.Errorf("it runs: %v, error %v", runs(orphan), err)
	}
	mustBeGone(t, nonce)
}

func TestAgentStartsWithoutAMarkWhereAHardLimitLeavesNoRoom(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait() // it was killed
	}()
	pid := child.Process.Pid
	if err := unix.Prlimit(pid, markedLimit, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}, nil); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	host, nonce := hostLogging(&log, Limits{}), NewNonce()
	for range 2 {
		if err := host.limit(pid, false, group{}, nonce); err != nil {
			t.Fatal(err)
		}
	}
	if said := strings.Count(log.String(), "without a mark"); said != 1 || markedByLimit(pid, nonce) {
		t.Errorf("said %d times, want once; marked: %v", said, markedByLimit(pid, nonce))
	}
}

func TestMarkIsMadeOfAWholeNonceAlone(t *testing.T) {
	for nonce, want := range map[Nonce]uint64{
		"": 0, "0123": 0, "zz000000000000000000000000000000": 0,
		"00000000000000000000000000000000": 1 << 62, "fffffffffffffffff000000000000000": 1<<62 | (1<<60 - 1),
	} {
		if value, ok := nonce.mark(); value != want || ok != (want > 0) {
			t.Errorf("%q: %x, %v", nonce, value, ok)
		}
	}
}
