package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// leavesHome ignores TERM and leaves a daemon: forked twice, in a session of its own, with its parent gone. Both hold stdout open.
const leavesHome = `trap "" TERM
setsid sh -c 'setsid sh -c "echo \$\$ >>\$0; exec sleep 600" "$0" &' "$2"
echo $$ >>"$2"
exec sleep 600`

// The figures of promise P16 for a killed edge.
const (
	edgeKills = 20
	agents    = 2
	family    = 2 // processes of an agent
	within    = 5 * time.Second
)

// P16. Each kill is its own positive control: before the edge starts again, everything it left is seen to run.
func TestAKilledEdgeLeavesNoOrphanAfterItsRestart(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	m := newMachine(t, leavesHome)
	var took []time.Duration
	m.start()
	for kill := range max(edgeKills, effort.Of(edgeKills)) {
		orders := []wire.Command{newOrder(t), newOrder(t)}
		m.hub.order(orders...)
		everyone := (kill + 1) * agents * family
		m.await("the agents are at work", func() bool { return len(m.noted()) == everyone })
		m.process.Kill()
		// Polled, since a process shows no environment while it becomes another program, as these do by exec.
		m.await("positive control: everybody outlives the edge", func() bool { return len(m.agents()) == agents*family })
		begin := time.Now()
		m.start()
		m.await("nothing of them is left", func() bool { return len(m.agents()) == 0 })
		took = append(took, time.Since(begin))
		m.hub.until("the runs have ended", func() bool { return len(m.hub.terminals) == (kill+1)*agents })
	}
	m.process.Stop()
	if longest := slices.Max(took); longest > within {
		t.Errorf("orphans lived up to %s after the restart, want at most %s", longest, within)
	}
	figure(t, "P16", "%d kills: orphans gone after %s at most, %s in the middle", len(took), slices.Max(took), slices.Sorted(slices.Values(took))[len(took)/2])
}

// agents returns the processes of the machine's agents.
func (m *machine) agents() []int { return rig.ProcessesOf(rig.Workspaces(m.home)) }

// await polls what nothing announces: the processes and files of other programs.
func (m *machine) await(what string, is func() bool) {
	m.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(within * 4); !is(); {
		select {
		case <-tick.C:
		case <-limit:
			m.t.Fatalf("never happened: %s: noted %d", what, len(m.noted()))
		}
	}
}
