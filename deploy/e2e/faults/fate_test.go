package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// lateMargin is how long before the hub gives a run up its edge has to be connected, to be the one that ends it.
const lateMargin = time.Second

// fate is what became of a run whose edge was killed.
type fate struct {
	run   id.Run
	away  bool          // its edge stayed away until the run had ended
	there time.Duration // if not: how long after the kill the hub had the edge again
	took  time.Duration // to its end: since the kill if the edge was away, else since the hub had it again
}

// examine says why a run was interrupted, and whether whoever was there has ended it: an edge that returns accounts for its runs at once, and
// only without it does the hub give them up.
func (f fate) examine(log []client.RunEvent) (fault.Code, error) {
	if err := endedOnce(log); err != nil {
		return "", err
	}
	reason, err := reasonOf(log)
	switch {
	case err != nil:
		return "", err
	case f.away && reason != fault.EdgeAbsent:
		return reason, fmt.Errorf("its edge was away, and it was interrupted for the reason %s", reason)
	case !f.away && reason == fault.EdgeAbsent && f.there > interruptAfter-lateMargin:
		return reason, nil // it could not connect in time
	case !f.away && reason != fault.ProcessLost:
		return reason, fmt.Errorf("its edge was there again %s after the kill, and it was interrupted %s after that for the reason %s", show(f.there), show(f.took), reason)
	}
	return reason, nil
}

// reasonOf is why a run was interrupted.
func reasonOf(log []client.RunEvent) (fault.Code, error) {
	for _, e := range log {
		if event.Type(e.EventType) == event.RunInterrupted {
			var p event.RunInterruptedPayload
			err := json.Unmarshal(e.Payload, &p)
			return p.ReasonCode, err
		}
	}
	return "", fmt.Errorf("it ended as %v, want %s", terminalsOf(log), event.RunInterrupted)
}

// fates are counts of runs, and the longest time to the end of one, by the reason.
type fates struct {
	runs    map[fault.Code]int
	longest map[fault.Code]time.Duration
}

// add examines one more run. The positive controls: a second end is noticed, and so is an end by the wrong one.
func (a fates) add(t *testing.T, f fate, log []client.RunEvent) {
	t.Helper()
	reason, err := f.examine(log)
	if err != nil {
		t.Errorf("run %s: %v", f.run, err)
		return
	}
	a.runs[reason]++
	a.longest[reason] = max(a.longest[reason], f.took)
	if _, err := f.examine(slices.Concat(log, log)); err == nil {
		t.Error("positive control: nobody notices a second end")
	}
	other := fate{away: reason != fault.EdgeAbsent}
	if _, err := other.examine(log); err == nil {
		t.Errorf("positive control: nobody notices that a run was interrupted for the reason %s", reason)
	}
}
