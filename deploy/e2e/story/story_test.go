package story

import (
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
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

// It leaves in a moment of silence: what it has received and not taken would not come again, since the hub cannot tell the one from the other.
func TestADeviceThatKeepsNoCursorGoesOnWhereTheHubLeftIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "300", "--rate", "150", "--tools")
	last := s.b.Post(s.session, client.MessageInput{ClientMsgID: uuid.NewString(), Content: rig.Text("nothing follows")})
	s.seenA.Until("what is said before silence", func(r *rig.Recorder) bool { return r.Versions("message.new "+last.MessageID) > 0 })
	s.Eventually("a place that the hub keeps", func() bool {
		before := len(s.seenA.Resumes())
		s.seenA.Close()
		s.a.SetCursor("")
		s.seenA.Reopen()
		s.seenA.UntilConnected(before + 1)
		return s.seenA.Resumes()[before].Resume == client.AuthOKPayloadResumeReplayed
	})
	s.seenA.Close()
	s.a.SetCursor("")
	run := s.b.Run(s.session, order)
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
