package story

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// interruptAfter is HUB_INTERRUPT_AFTER in these tests.
const interruptAfter = 2 * time.Second

// newImpatientScene is a scene whose hub does not wait long for an edge.
func newImpatientScene(t *testing.T, agentArgs ...string) *scene {
	t.Helper()
	return sceneOf(t, rig.New(t, rig.Options{Env: []string{"HUB_INTERRUPT_AFTER=" + interruptAfter.String()}}), agentArgs...)
}

// untilUnknown waits until people are told that nobody knows what becomes of a run, and returns how long that took.
func (s *scene) untilUnknown(run id.Run) time.Duration {
	s.t.Helper()
	begin := time.Now()
	s.Eventually("unknown", func() bool { return s.Owner().Task(run).Unknown })
	return time.Since(begin)
}

// force ends a run from device a.
func (s *scene) force(run id.Run) client.AgentTask {
	s.t.Helper()
	task, err := client.Decode[client.AgentTask](s.a.API().CancelAgentTask(s.t.Context(), string(run), client.CancelInput{Force: true}))
	if err != nil {
		s.t.Fatalf("force: %v", err)
	}
	return task
}

// lateFrom splits a log at its outcome. Everything behind that is late, nothing before is.
func (s *scene) lateFrom(log []client.RunEvent, outcome string) (late []string) {
	s.t.Helper()
	at := slices.IndexFunc(log, func(e client.RunEvent) bool { return e.EventType == outcome })
	if at < 0 {
		s.t.Fatalf("no %s in a log of %d events", outcome, len(log))
	}
	for i, e := range log {
		if e.Late != (i > at) {
			s.t.Errorf("event %d, %s: late is %t, %s is event %d", e.EventSeq, e.EventType, e.Late, outcome, log[at].EventSeq)
		}
	}
	for _, e := range log[at+1:] {
		late = append(late, e.EventType)
	}
	return late
}

// streamed reads a run's log as server-sent events, from its start to the stream's own end.
func (s *scene) streamed(run id.Run) []client.CanonicalEvent {
	s.t.Helper()
	p := &plainReader{s: s, run: run}
	if err := p.follow(func() bool { return false }); err != nil {
		s.t.Fatalf("follow: %v", err)
	}
	return p.events
}

// timesSaid is how often a message is in the conversation.
func (s *scene) timesSaid(message client.MessageID) (times int) {
	s.t.Helper()
	list, err := client.Decode[client.MessageList](s.b.API().ListMessages(s.t.Context(), s.session, &client.ListMessagesParams{}))
	if err != nil {
		s.t.Fatalf("list messages: %v", err)
	}
	for _, m := range list.Items {
		if m.ID == message {
			times++
		}
	}
	return times
}

// R35. The edge is cut off while its agent works, and comes back when the hub has given the run up.
func TestR35WhatIsReportedAfterARunWasGivenUpIsLate(t *testing.T) {
	t.Parallel()
	work, tell := untilTold(t)
	s := newImpatientScene(t, "--events", forever, "--rate", "100", "--tools", "--while", work)
	run := s.begin()
	s.Proxy.Down()
	cut := time.Now()
	known := s.untilUnknown(run)
	if outcome := s.seenA.UntilEnded(run); outcome != client.HubWebSocketFrameTypeAgentFailed {
		t.Errorf("the end was told as %s", outcome)
	}
	took := time.Since(cut)
	given := s.Owner().Task(run)
	if given.State != client.RunStateInterrupted || given.Unknown || given.FinalMessageID != "" {
		t.Fatalf("given up, the run is %+v", given)
	}
	tell()
	s.Proxy.Heal()
	s.Eventually("the final text", func() bool { return s.Owner().Task(run).FinalMessageID != "" })
	log := s.settle(run, client.RunStateInterrupted)
	now := s.Owner().Task(run)
	if !now.EndedAt.Equal(given.EndedAt) || now.Error != given.Error {
		t.Errorf("what came late changed the run from %+v to %+v", given, now)
	}
	late := s.lateFrom(log, "run.interrupted")
	if len(late) == 0 || late[len(late)-1] != "run.late_outcome" || !slices.Contains(late, "message.delta") {
		t.Errorf("late are %q", late)
	}
	if n := s.timesSaid(now.FinalMessageID); n != 1 {
		t.Errorf("the final text is in the conversation %d times", n)
	}
	s.streamIs(run, log)
	t.Logf("unknown after %s, interrupted after %s, then %d late events of %d", known, took, len(late), len(log))
}

// streamIs checks that the stream of a run that is over shows all of its log, late events too.
func (s *scene) streamIs(run id.Run, log []client.RunEvent) {
	s.t.Helper()
	shown := s.streamed(run)
	if len(shown) != len(log) {
		s.t.Fatalf("the stream has %d events, the log %d", len(shown), len(log))
	}
	for i, e := range log {
		if got := shown[i]; got.Seq != e.EventSeq || got.EventType != e.EventType || got.Late != e.Late {
			s.t.Errorf("event %d is streamed as %+v", e.EventSeq, got)
		}
	}
}

// A person does not wait: not for an edge that is away, and not for one that does not answer. Nothing works on behind their back.
func TestAForcedEndIsAtOnceAndTheEdgeEndsTheAgentWhenItIsBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "1000000", "--rate", "50")
	for _, c := range []struct {
		fault        string
		strike, heal func()
	}{
		{"the edge is away", s.Proxy.Down, s.Proxy.Heal},
		{"the edge does not answer", s.edge.Process().Pause, s.edge.Process().Resume},
	} {
		run := s.begin()
		c.strike()
		begin := time.Now()
		if task := s.force(run); task.State != client.RunStateInterrupted || task.EndedAt.IsZero() {
			t.Fatalf("%s: forced, the run is %+v", c.fault, task)
		}
		took := time.Since(begin)
		if again := s.force(run); again.State != client.RunStateInterrupted {
			t.Errorf("%s: forced again, the run is %+v", c.fault, again)
		}
		agents := rig.ProcessesOf(rig.Workspaces(s.edge.Home))
		if len(agents) == 0 && runtime.GOOS == "linux" {
			t.Errorf("%s: positive control: nothing works on behind the forced end", c.fault)
		}
		c.heal()
		s.Eventually("the agent has ended", func() bool { return len(rig.ProcessesOf(rig.Workspaces(s.edge.Home))) == 0 })
		s.Eventually("the edge's own end", func() bool {
			log := s.Owner().Log(run)
			return log[len(log)-1].EventType == "run.late_outcome"
		})
		late := s.lateFrom(s.settle(run, client.RunStateInterrupted), "run.interrupted")
		t.Logf("%s: ended %s after it was forced, with %d processes at work; then %d late events", c.fault, took, len(agents), len(late))
	}
}

// A run that was given up may go on, as R35 wants; but a person can stop it.
func TestARunThatWasGivenUpIsStoppedWhenItsEdgeIsBack(t *testing.T) {
	t.Parallel()
	s := newImpatientScene(t, "--events", "1000000", "--rate", "50")
	run := s.begin()
	s.Proxy.Down()
	s.seenA.UntilEnded(run)
	s.cancel(run)
	if task := s.Owner().Task(run); task.State != client.RunStateInterrupted {
		t.Errorf("cancelled, the run is %s", task.State)
	}
	if agents := rig.ProcessesOf(rig.Workspaces(s.edge.Home)); len(agents) == 0 && runtime.GOOS == "linux" {
		t.Error("positive control: the agent does not work on")
	}
	s.Proxy.Heal()
	s.Eventually("the edge's own end", func() bool {
		log := s.Owner().Log(run)
		return log[len(log)-1].EventType == "run.late_outcome"
	})
	s.Eventually("the agent has ended", func() bool { return len(rig.ProcessesOf(rig.Workspaces(s.edge.Home))) == 0 })
	s.lateFrom(s.settle(run, client.RunStateInterrupted), "run.interrupted")
}

func TestARunIsRegeneratedAsATurnOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "20")
	first := s.b.Run(s.session, order)
	s.complete(first)
	receipt, err := client.Decode[client.RunReceipt](s.a.API().RegenerateAgentTask(t.Context(), string(first),
		&client.RegenerateAgentTaskParams{IdempotencyKey: uuid.NewString()}))
	if err != nil {
		t.Fatal(err)
	}
	again := id.Run(receipt.RunID)
	s.settle(again, client.RunStateCompleted)
	before, after := s.Owner().Task(first), s.Owner().Task(again)
	if again == first || after.RegeneratesRunID != string(first) || after.TriggerMessageID != before.TriggerMessageID {
		t.Errorf("%+v regenerates %+v", after, before)
	}
	if s.timesSaid(before.FinalMessageID) != 1 || s.timesSaid(after.FinalMessageID) != 1 || before.FinalMessageID == after.FinalMessageID {
		t.Errorf("the answers are %s and %s", before.FinalMessageID, after.FinalMessageID)
	}
}
