package faults

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

const (
	pausedFor = interruptAfter + time.Second // longer than an edge may stay away
	lookedFor = time.Second                  // long enough for the hub to look, and not as long as an edge may stay away
)

// Absence is observed, not computed from times: the hub saw an edge go, was stopped itself, and cannot know that the edge was there again while
// it slept. The edge that really stays away is the positive control, and gets the whole time anew.
func TestAHubThatWasStoppedDoesNotTakeItsOwnAbsenceForThatOfAnEdge(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, nil)
	runs := f.work()
	here, gone := runs[0], runs[1]
	f.edges[1].Kill()
	f.Proxy.Down()
	f.Eventually("both edges are away", func() bool { return f.Owner().Task(here).Unknown && f.Owner().Task(gone).Unknown })
	<-time.After(lookedFor) // the hub begins to observe that
	f.Hub().Pause()
	f.Proxy.Heal()
	<-time.After(pausedFor) // it is time that is tried
	f.Proxy.Stall()
	resumed := time.Now()
	f.Hub().Resume()
	<-time.After(lookedFor) // the hub looks, and the edge is not there yet
	f.Proxy.Heal()
	f.edges[0].WaitOnline()
	back := time.Since(resumed)
	f.seen.UntilEnded(gone)
	if took := time.Since(resumed); took < interruptAfter {
		t.Errorf("the edge that is gone was given up %s after the hub went on, want a whole observation of %s", took, interruptAfter)
	}
	task := f.Owner().Task(here)
	if task.State != client.RunStateRunning || task.Unknown {
		t.Errorf("the edge was there again %s after the hub went on, and its run is %s, unknown %t", back, task.State, task.Unknown)
	}
	f.seen.UntilEvents(here, int(task.LastEventSeq)+3)
	if err := endedOnce(f.Owner().Log(gone)); err != nil {
		t.Error(err)
	}
}
