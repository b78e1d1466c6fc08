package story

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

func TestTwoDevicesSeeTheSameThoughOneIsCutOffInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "300", "--rate", "150", "--tools", "--artifact", "report.md")
	run := s.begin()
	s.seenA.Close()
	s.seenB.UntilEvents(run, 120)
	s.seenA.Reopen()
	s.complete(run)
}

func TestADeviceThatKeepsNoCursorGoesOnWhereTheHubLeftIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "300", "--rate", "150", "--tools")
	run := s.begin()
	s.seenA.Close()
	s.a.SetCursor("")
	s.seenB.UntilEvents(run, 120)
	s.seenA.Reopen()
	s.complete(run)
}

func TestAMessageSentWhileNoEdgeIsOnlineStartsItsRunWhenOneComes(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "20")
	s.edge.Process().Stop()
	s.edge.WaitState(client.EdgeStateOffline)
	run := s.b.Run(s.session, order)
	s.Owner().UntilState(run, client.RunStateWaitingEdge)
	s.edge.Start()
	s.complete(run)
}

func TestACancelledRunEndsAsCancelledOnEveryDevice(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "100000", "--rate", "100")
	run := s.begin()
	s.cancel(run)
	if got := s.seenB.UntilEnded(run); got != client.HubWebSocketFrameTypeAgentCancel {
		t.Errorf("outcome %s, want agent.cancel", got)
	}
	s.truth.MustBePrefix(prompt, s.settle(run, client.RunStateCancelled))
}
