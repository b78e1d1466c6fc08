package faults

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// The figures of promises P2 and P3.
const (
	lostEdgeKills = 20
	lostHubKills  = 20
	lostBusWipes  = 10
	lostOthers    = 5 // of each other fault
	writers       = 3 // runs at work at once, each at 100 events a second
	repeatedRows  = 100
	sureKills     = 5 // of so many one is sure to come in the middle of a run
)

// P2 and P3. Every row comes to the hub twice or three times, while edge, hub and bus are killed and the way between them is cut, stalled and
// taken away.
func TestWhateverIsKilledWhatTheEdgeJournalledIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	loseNothing(t, effortOf(t), nil)
}

// loseNothing is that test, and returns what it was done to.
func loseNothing(t *testing.T, effort nemesis.Effort, c *clocks) *siege {
	t.Helper()
	s := newSiege(t, c, "--events", "200", "--rate", "100", "--tools")
	turns := s.during(writers, func() {
		s.seen.UntilFrames(10 * writers) // all are at work
		s.play(nemesis.Plan(effort.Seed, nemesis.Figures{
			nemesis.KillEdge: effort.Of(lostEdgeKills), nemesis.KillHub: effort.Of(lostHubKills), nemesis.WipeBus: effort.Of(lostBusWipes),
			nemesis.Cut: effort.Of(lostOthers), nemesis.Unplug: effort.Of(lostOthers), nemesis.HalfOpen: effort.Of(lostOthers),
			nemesis.PauseEdge: effort.Of(lostOthers), nemesis.PauseHub: effort.Of(lostOthers),
		}))
	})
	ended, events, whole := s.examine(turns)
	again := s.relay.again.Load()
	figure(t, c.promise("P2 and P3"), "%d runs ended as %v, %d events, %d rows delivered again", len(turns), ended, events, again)
	if again < repeatedRows || ended[event.RunCompleted] == 0 || ended[event.RunInterrupted] == 0 && effort.Of(lostEdgeKills) >= sureKills {
		t.Fatal("too little happened to prove anything")
	}
	for what, spoil := range spoilers() {
		if whole.spoilt(spoil).examine() == nil {
			t.Errorf("positive control: nobody notices a log with %s", what)
		}
	}
	return s
}

// examine compares everything that is known of runs. It returns how they ended, how many events they have, and the evidence of one that
// nothing has harmed.
func (s *siege) examine(turns []turn) (ended map[event.Type]int, events int, whole evidence) {
	s.t.Helper()
	accounts, err := truth.Read(s.truth.Path)
	if err != nil {
		s.t.Fatal(err)
	}
	ended = map[event.Type]int{}
	for _, turn := range turns {
		e := s.evidenceOf(turn, accounts)
		if err := e.examine(); err != nil {
			s.t.Errorf("run %s, %q: %v", turn.run, turn.prompt, err)
			continue
		}
		how := terminalsOf(e.log)[0]
		ended[how]++
		events += len(e.log)
		if how == event.RunCompleted {
			whole = e
		}
	}
	return ended, events, whole
}

// spoilt is the same evidence with another log, numbered anew as a store would that has lost or doubled something.
func (e evidence) spoilt(spoil func([]client.RunEvent) []client.RunEvent) evidence {
	e.log = spoil(slices.Clone(e.log))
	for i := range e.log {
		e.log[i].EventSeq = int64(i + 1)
	}
	return e
}

// spoilers are what a store could do to a log.
func spoilers() map[string]func([]client.RunEvent) []client.RunEvent {
	type log = []client.RunEvent
	return map[string]func(log) log{
		"an event lost":            func(l log) log { return slices.Delete(l, len(l)/2, len(l)/2+1) },
		"the end lost":             func(l log) log { return l[:len(l)-1] },
		"an event applied twice":   func(l log) log { return slices.Insert(l, len(l)/2, l[len(l)/2]) },
		"the end applied twice":    func(l log) log { return append(l, l[len(l)-1]) },
		"two events the wrong way": func(l log) log { l[5], l[6] = l[6], l[5]; return l },
		"a byte changed": func(l log) log {
			changed := slices.Clone(l[len(l)/2].Payload)
			changed[len(changed)-2] ^= 1
			l[len(l)/2].Payload = changed
			return l
		},
	}
}
