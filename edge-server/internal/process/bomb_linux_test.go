package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bomb forks until nothing more can be forked, and at most 511 times, so that it harms nobody when the limit is what fails. Its processes then
// stay and ignore TERM.
const bomb = `trap "" TERM
bomb() {
	[ "$1" -gt 0 ] || exec sleep 600
	bomb $(($1 - 1)) & bomb $(($1 - 1)) &
	exec sleep 600
}
echo ready
bomb 8 2>/dev/null`

const bombSize = 511 // processes

func bombSpec(t *testing.T) Spec {
	t.Helper()
	spec := agent(t, "")
	spec.Argv = []string{"sh", "-c", bomb}
	return spec
}

func TestForkBombIsBoundedAndDisturbsNoOtherAgent(t *testing.T) {
	const limit = 64
	host := hostLogging(t.Output(), Limits{Tasks: limit})
	p, err := host.Start(bombSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	stop := followAside(t, p)
	if !counts(p.group.unified) && !counts(p.group.pids) {
		stop()
		t.Skip("optional: no control group here counts processes")
	}
	await(t, "the bomb has come to its limit", func() bool { return hitLimit(p.group) })
	other, err := host.Start(agent(t, "exit-3"))
	if err != nil {
		t.Fatal(err)
	}
	if exit := other.Follow(t.Context(), NewInput(), func(Line) {}); exit.Code != 3 || !exit.Gone {
		t.Errorf("another agent ended with %+v", exit)
	}
	if n := len(p.group.members()); n > limit {
		t.Errorf("%d processes, the limit is %d", n, limit)
	}
	mustStopInTime(t, p, stop)
}

// The positive control of the test above, and of stopping: without a limit the same bomb is seen to grow far beyond it, and still ends.
func TestForkBombWithoutALimitIsSeenToGrowAndEndsToo(t *testing.T) {
	p, err := testHost().Start(bombSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	stop := followAside(t, p)
	whole := tree{leader: p.self, nonce: p.nonce, group: p.group}
	await(t, "the bomb has grown", func() bool {
		left, _, err := whole.look()
		return err == nil && len(left) == bombSize
	})
	mustStopInTime(t, p, stop)
}

// hitLimit says whether a fork was refused because of the limit.
func hitLimit(g group) bool {
	for _, folder := range []string{g.unified, g.pids} {
		events, err := os.ReadFile(filepath.Join(folder, "pids.events"))
		if err == nil && !strings.HasPrefix(string(events), "max 0\n") {
			return true
		}
	}
	return false
}

func mustStopInTime(t *testing.T, p *Process, stop func() Exit) {
	t.Helper()
	begin := time.Now()
	exit := stop()
	if took := time.Since(begin); took > p.grace+killPatience || !exit.Gone {
		t.Errorf("the stop took %s, exit %+v", took, exit)
	}
	mustBeGone(t, p.nonce)
	mustHaveNoGroup(t, p.nonce)
}
