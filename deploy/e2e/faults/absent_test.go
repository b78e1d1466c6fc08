package faults

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The figures of promise P12.
const (
	absentKills    = 200
	absentAtOnce   = 20
	absentLeast    = 7 // at once, in a shorter run
	interruptAfter = 3 * time.Second
	absentLimit    = interruptAfter + 5*time.Second
)

// fleet is a hub and edges, each of which has an agent that never ends.
type fleet struct {
	*rig.Rig
	t        *testing.T
	edges    []*rig.Edge
	sessions []string // of each edge's agent
	seen     *rig.Recorder
	clocks   *clocks
}

func newFleet(t *testing.T, size int, c *clocks) *fleet {
	t.Helper()
	f := &fleet{Rig: rig.New(t, c.options("HUB_INTERRUPT_AFTER="+interruptAfter.String())), t: t, clocks: c}
	f.seen = f.Owner().Watch()
	for i := range size {
		agent := fmt.Sprintf("agent-%d", i)
		f.edges = append(f.edges, f.AddEdge(fmt.Sprintf("edge-%d", i), map[string]string{agent: f.TestAgent("--events", "1000000", "--rate", "5")}))
		f.sessions = append(f.sessions, f.Owner().Group(agent, agent))
	}
	return f
}

// work starts a run on each edge and waits until all are at work.
func (f *fleet) work() (runs []id.Run) {
	f.t.Helper()
	for i, session := range f.sessions {
		runs = append(runs, f.Owner().Run(session, fmt.Sprintf("@agent-%d go", i)))
	}
	for _, run := range runs {
		f.seen.UntilEvents(run, 3)
	}
	return runs
}

// P12. All edges are killed at once. One half comes back at once and says what became of its runs; the other stays away until the hub has.
func TestEveryRunOfAKilledEdgeEndsOnceWhetherTheEdgeReturnsOrNot(t *testing.T) {
	t.Parallel()
	endEveryRun(t, effortOf(t), nil)
}

func endEveryRun(t *testing.T, effort nemesis.Effort, c *clocks) {
	t.Helper()
	kills := effort.Of(absentKills)
	size := min(absentAtOnce, max(absentLeast, kills/10))
	f := newFleet(t, size, c)
	random := rand.New(rand.NewPCG(effort.Seed, 0))
	var all []fate
	for len(all) < kills {
		all = append(all, f.killAll(f.work(), random.Perm(size))...)
	}
	f.work() // rows of an edge are committed in order: what it had to say of the runs before has arrived

	ended := fates{map[fault.Code]int{}, map[fault.Code]time.Duration{}}
	for _, one := range all {
		ended.add(t, one, f.Owner().Log(one.run))
	}
	const back, away = fault.ProcessLost, fault.EdgeAbsent
	figure(t, c.promise("P12"), "%d edges killed, %d at a time: %d runs ended by the return of their edge, %s after it at most; %d given up, %s after the kill at most",
		len(all), size, ended.runs[back], show(ended.longest[back]), ended.runs[away], show(ended.longest[away]))
	if ended.runs[back] == 0 {
		t.Error("no edge was back in time to account for its run")
	}
	if longest := ended.longest[away]; longest > absentLimit {
		t.Errorf("a run of an absent edge ended %s after the kill, want at most %s", longest, absentLimit)
	}
}

// killAll kills every edge, starts one half of them again at once and the other when its runs have ended without it, and returns what became of
// each run.
func (f *fleet) killAll(runs []id.Run, order []int) []fate {
	f.t.Helper()
	if endedOnce(f.Owner().Log(runs[0])) == nil {
		f.t.Error("positive control: a run without an end is not told from one that has ended")
	}
	for _, e := range f.edges {
		e.Kill()
	}
	dead := time.Now()
	f.clocks.jump()
	ends := make([]fate, len(runs))
	back, away := order[:len(order)/2], order[len(order)/2:]
	var ending sync.WaitGroup
	for _, i := range back {
		ending.Go(func() {
			f.edges[i].Start()
			f.edges[i].Process().WaitFor("uplink is open") // many at once from one address are told to wait for a second or two
			there := time.Since(dead)
			f.seen.UntilEnded(runs[i])
			ends[i] = fate{run: runs[i], there: there, took: time.Since(dead) - there}
		})
	}
	for _, i := range away {
		ending.Go(func() {
			f.seen.UntilEnded(runs[i])
			ends[i] = fate{run: runs[i], away: true, took: time.Since(dead)}
		})
	}
	ending.Wait()
	for _, i := range away {
		f.edges[i].Start()
	}
	return ends
}
