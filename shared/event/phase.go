package event

import "strings"

// Phase is a stretch of a run's life, coarser than its states: all that decides whether an event is in its place. Phases are bits.
type Phase uint8

// Phases, in the order of a run's life.
const (
	Before   Phase = 1 << iota // no agent process yet: queued, waiting_edge, dispatched
	Working                    // running, waiting_person
	Stopping                   // cancelling
	Over                       // completed, failed, cancelled, interrupted

	open     = Before | Working | Stopping
	anywhere = open | Over
)

// Has says whether all of what is in p.
func (p Phase) Has(what Phase) bool { return p&what == what }

// Legal returns the phases in which the event has its place. An event that comes in another one is stored all the same, because it is a
// fact: before the outcome it changes what it can, after it it is late.
func (t Type) Legal() Phase {
	switch t {
	case RunQueued, RunStarted:
		return Before
	case RunCancelling:
		return Before | Working
	case RunCancelled:
		return Stopping
	case RunCompleted, RunProcessEnded:
		return Working | Stopping
	case RunFailed, RunInterrupted, RunNotice, RunSteered, SteerWithdrawn:
		return open
	case RunLateOutcome:
		return Over
	case RunRowRefused, RunLogGap:
		return anywhere
	}
	return Working | Stopping
}

// states names the states of the phases, for api/events.md.
func (p Phase) states() string {
	var names []string
	for _, one := range []struct {
		phase Phase
		name  string
	}{{Before, "before start"}, {Working, "working"}, {Stopping, "cancelling"}, {Over, "over"}} {
		if p.Has(one.phase) {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, ", ")
}
