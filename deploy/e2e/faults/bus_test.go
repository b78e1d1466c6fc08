package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// The figures of promise P6.
const (
	busRuns   = 200
	busLosses = 10
	busGone   = 2 * time.Second  // how long the way between edges and hub, or the bus between hubs, is gone
	busSilent = 16 * time.Second // how long it is half-open: for longer than either end waits for a sign of the other
	recovered = 5 * time.Second  // from the end of the loss until a device has seen something new of every run
)

// P6. The bus is lost in every way there is, under many live runs: killed with its hub, replaced by an empty one, cut off, half-open.
func TestLosingTheBusLosesNothingAndEveryRunIsSeenAgainSoon(t *testing.T) {
	effort := effortOf(t)
	full := effort.Time >= nemesis.Full
	if !full { // otherwise it has the machine to itself, since it goes by the time
		t.Parallel()
	}
	c := newCrowd(t, min(busRuns, effort.Of(busRuns)))
	var took []time.Duration
	for _, loss := range busPlan(effort) {
		again, caughtUp := c.lose(loss)
		took = append(took, again)
		t.Logf("%s: every run was seen again after %s, with what it said after the loss after %s", loss.Fault, show(again), show(caughtUp))
	}
	c.end()
	log, account, events := c.examine()
	slices.Sort(took)
	longest := took[len(took)-1]
	figure(t, "P6", "%d runs, %d events, the bus lost %d times; every run seen again after %s in the middle, %s at most",
		len(c.turns), events, len(took), show(took[len(took)/2]), show(longest))
	if full && longest > recovered {
		t.Errorf("a run was seen again %s after the bus came back, want at most %s", longest, recovered)
	}
	for what, spoil := range spoilers() {
		spoilt := numbered(spoil(slices.Clone(log)))
		if account.Equal(rig.Entries(spoilt), nil) == nil && endedOnce(spoilt) == nil {
			t.Errorf("positive control: nobody notices a log with %s", what)
		}
	}
}

func show(d time.Duration) string { return d.Round(time.Millisecond).String() }

func numbered(log []client.RunEvent) []client.RunEvent {
	for i := range log {
		log[i].EventSeq = int64(i + 1)
	}
	return log
}

// busPlan is each kind of loss in turn, in an order that follows from the seed.
func busPlan(effort nemesis.Effort) []nemesis.Step {
	kinds := []nemesis.Fault{nemesis.KillHub, nemesis.WipeBus, nemesis.Unplug, nemesis.HalfOpen}
	figures := nemesis.Figures{}
	for i := range effort.Of(busLosses) {
		figures[kinds[(i+int(effort.Seed%uint64(len(kinds))))%len(kinds)]]++
	}
	plan := nemesis.Plan(effort.Seed, figures)
	for i := range plan {
		if plan[i].Lasts = busGone; plan[i].Fault == nemesis.HalfOpen {
			plan[i].Lasts = busSilent
		}
	}
	return plan
}

// lose strikes. It returns how long it took from the end of the loss until a device had seen something new of every run, and until that was
// something said after the loss. It is a positive control as well: while edges cannot reach the hub, nothing that is said meanwhile is seen.
func (c *crowd) lose(loss nemesis.Step) (again, caughtUp time.Duration) {
	c.t.Helper()
	<-time.After(loss.After)
	restore := c.take(loss.Fault)
	begin := time.Now()
	<-time.After(loss.Lasts)
	if seen := c.said.after(everyRun(c.turns, begin)); len(seen) > 0 && loss.Fault != nemesis.WipeBus {
		c.t.Errorf("positive control: %d runs were heard of while %s", len(seen), loss.Fault)
	}
	before := c.said.times()
	restore()
	over := time.Now()
	c.said.untilAll(c.t, before)
	again = time.Since(over)
	c.said.untilAll(c.t, everyRun(c.turns, over))
	return again, time.Since(over)
}

// take takes something away and returns how to bring it back.
func (c *crowd) take(what nemesis.Fault) (restore func()) {
	c.t.Helper()
	switch what {
	case nemesis.KillHub:
		c.KillHub()
		return c.StartHub
	case nemesis.WipeBus:
		c.stopBus()
		return c.startBus
	case nemesis.HalfOpen:
		c.Proxy.Stall()
		return c.Proxy.Heal
	default:
		c.Proxy.Down()
		return c.Proxy.Heal
	}
}
