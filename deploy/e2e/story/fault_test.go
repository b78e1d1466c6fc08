package story

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

func TestNothingIsLostWhenTheHubIsKilledMidRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "500", "--rate", "150", "--tools", "--artifact", "report.md")
	run := s.begin()
	for _, events := range []int{60, 200} {
		s.seenA.UntilEvents(run, events)
		s.KillHub()
		s.StartHub()
	}
	s.complete(run)
}

func TestARunEndsAsInterruptedWhenItsEdgeIsKilledMidRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "100000", "--rate", "100", "--tools")
	run := s.begin()
	s.edge.Kill()
	s.edge.Start()
	s.truth.MustBePrefix(prompt, s.settle(run, client.RunStateInterrupted))
	next := s.b.Run(s.session, "@worker go on")
	s.seenB.UntilEvents(next, 10)
	s.cancel(next)
	s.settle(next, client.RunStateCancelled)
}

func TestNothingJournalledIsLostWhenHubAndEdgeAreKilledTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "100000", "--rate", "100", "--tools")
	run := s.begin()
	s.KillHub()
	s.edge.Kill()
	s.edge.Start()
	s.StartHub()
	s.truth.MustBePrefix(prompt, s.settle(run, client.RunStateInterrupted))
}

func TestNothingIsLostWhenTheTunnelIsCutAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "500", "--rate", "150", "--tools")
	run := s.begin()
	for events := 60; events <= 180; events += 40 {
		s.seenA.UntilEvents(run, events)
		s.Proxy.Cut()
	}
	s.complete(run)
}

func TestNothingIsLostWhenTheTunnelIsHalfOpen(t *testing.T) {
	t.Parallel()
	const silence = 18 * time.Second // longer than either end bears
	s := newScene(t, "--events", "3500", "--rate", "150", "--tools")
	run := s.begin()
	s.Proxy.Stall()
	healing := time.AfterFunc(silence, s.Proxy.Heal)
	defer healing.Stop()
	s.complete(run)
}
