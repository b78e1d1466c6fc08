package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// The figures of promise P23: how far clocks are off, and, if the figures of the other promises are not done in full, which part of them is done
// again with such clocks.
const (
	clockError = time.Hour
	clockShare = 5
)

// clocks are the wall clocks of a hub and of edges: one an hour ahead, the other an hour behind. Nil ones are right. Owned by one goroutine.
type clocks struct {
	hub, edges *rig.Clock
	hubAhead   bool
	bin        string
}

func newClocks(t *testing.T) *clocks {
	t.Helper()
	return &clocks{hub: rig.NewClock(t, clockError), edges: rig.NewClock(t, -clockError), hubAhead: true, bin: rig.ClockPrograms(t)}
}

// options are those of a rig that goes by the clocks, whose hub has env.
func (c *clocks) options(env ...string) rig.Options {
	if c == nil {
		return rig.Options{Env: env}
	}
	return rig.Options{Bin: c.bin, Env: append(env, c.hub.Setting()), EdgeEnv: []string{c.edges.Setting()}}
}

// promise names what is tried under the clocks.
func (c *clocks) promise(name string) string {
	if c == nil {
		return name
	}
	return "P23, as " + name
}

// jump lets both clocks change by two hours, in opposite directions and under programs that run.
func (c *clocks) jump() {
	if c == nil {
		return
	}
	c.hubAhead = !c.hubAhead
	hub := clockError
	if !c.hubAhead {
		hub = -hub
	}
	c.hub.Set(hub)
	c.edges.Set(-hub)
}

// P23. The other promises hold while the clocks of hub and edges are two hours apart, and change places again and again.
func TestNothingGoesByClocksThatAgree(t *testing.T) {
	t.Parallel()
	effort := effortOf(t)
	if effort.Time < nemesis.Full {
		effort.Time /= clockShare
	}
	for _, again := range []struct {
		name string
		play func(*testing.T, nemesis.Effort, *clocks)
	}{
		{"P1", sendThroughKills}, {"P2 and P3", loseNothingByTheClock}, {"P12", endEveryRun}, {"prompt", answerOnce},
	} {
		t.Run(again.name, func(t *testing.T) { again.play(t, effort, newClocks(t)) })
	}
}

// loseNothingByTheClock has a positive control: one more run, in the middle of which both clocks go back, and whoever orders its log by either
// gets another log.
func loseNothingByTheClock(t *testing.T, effort nemesis.Effort, c *clocks) {
	t.Helper()
	s := loseNothing(t, effort, c)
	const prompt = "work while the clocks jump"
	last := turn{s.asker.Run(s.asker.Group(prompt, worker), "@"+worker+" "+prompt), prompt}
	for jumps := range 2 {
		s.seen.UntilEvents(last.run, 20*(jumps+1))
		c.jump()
	}
	s.seen.UntilEnded(last.run)
	s.examine([]turn{last})
	log := s.Owner().Log(last.run)
	if slices.IsSortedFunc(log, func(a, b client.RunEvent) int { return a.OccurredAt.Compare(b.OccurredAt) }) {
		t.Error("positive control: the clock of the edge went back, and the log is in its order")
	}
	if slices.IsSortedFunc(log, func(a, b client.RunEvent) int { return a.RecordedAt.Compare(b.RecordedAt) }) {
		t.Error("positive control: the clock of the hub went back, and the log is in its order")
	}
}
