package story

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// badCompany is an edge with one agent for every way to misbehave.
func badCompany(t *testing.T) *scene {
	t.Helper()
	s := &scene{Rig: rig.New(t, rig.Options{}), t: t}
	profiles := map[string]string{"worker": s.TestAgent("--events", "5")}
	for _, act := range []string{"exit", "garbage", "longline", "forever", "stubborn"} {
		profiles[act] = s.TestAgent("--act", act)
	}
	s.edge = s.AddEdge("laptop", profiles)
	s.a, s.b = s.Device("a", s.HubURL()), s.Device("b", s.HubURL())
	s.seenA, s.seenB = s.a.Watch(), s.b.Watch()
	s.seenA.UntilConnected(1)
	s.seenB.UntilConnected(1)
	s.session = s.a.Group("demo", "worker", "exit", "garbage", "longline", "forever", "stubborn")
	return s
}

func TestAgentsThatMisbehaveHarmNobodyElse(t *testing.T) {
	t.Parallel()
	s := badCompany(t)
	forever, stubborn := s.a.Run(s.session, "@forever go"), s.a.Run(s.session, "@stubborn go")
	s.seenA.UntilEvents(stubborn, 5)

	exit := s.a.Run(s.session, "@exit go")
	s.settle(exit, client.RunStateFailed)
	if task := s.a.Task(exit); task.Error.Code == "" || task.Error.Message == "" {
		t.Errorf("the failure says %+v, want a code and a sentence", task.Error)
	}
	for _, name := range []string{"garbage", "longline"} {
		run := s.a.Run(s.session, "@"+name+" go")
		s.settle(run, client.RunStateCompleted)
		s.mustAnswer(run, "still here")
	}
	const mostMemory = 300 << 20 // bytes; the long line alone is 50 MiB, and it must not have been kept anywhere
	if peak := peakMemory(t, s.edge.Process().PID()); peak > mostMemory {
		t.Errorf("the edge took %d MiB", peak>>20)
	}

	for _, run := range []id.Run{forever, stubborn} {
		s.cancel(run)
		log := s.settle(run, client.RunStateCancelled)
		if last := string(log[len(log)-1].Payload); !strings.Contains(last, `"external_stop_confirmed":true`) {
			t.Errorf("the run ended with %s, want its processes gone", last)
		}
	}
	s.settle(s.a.Run(s.session, "@worker go"), client.RunStateCompleted)
}

// Work that finds no place is visible as queued and gets its turn.
func TestRunsBeyondTheEdgesPlacesWaitVisiblyAndGetTheirTurn(t *testing.T) {
	t.Parallel()
	s := badCompany(t)
	var blocking []id.Run
	for i := range 4 { // EDGE_PLACES, each taken from a conversation of its own: one alone takes one
		blocking = append(blocking, s.a.Run(s.a.Group(fmt.Sprint("blocking ", i), "forever"), "@forever go"))
	}
	for _, run := range blocking {
		s.seenA.UntilEvents(run, 1)
	}
	waiting := s.a.Run(s.session, "@worker go")
	s.seenA.UntilEvents(waiting, 1)
	if first := s.a.Log(waiting)[0]; first.EventType != "run.queued" || !strings.Contains(string(first.Payload), "reason") {
		t.Errorf("the waiting run shows %s %s, want run.queued with a reason", first.EventType, first.Payload)
	}
	s.cancel(blocking[0])
	s.settle(waiting, client.RunStateCompleted)
	for _, run := range blocking[1:] {
		s.cancel(run)
		s.settle(run, client.RunStateCancelled)
	}
}

// mustAnswer checks the final message of a run, which both devices were shown.
func (s *scene) mustAnswer(run id.Run, want string) {
	s.t.Helper()
	task := s.a.Task(run)
	message, ok := s.seenA.Message(task.FinalMessageID)
	if !ok || !strings.Contains(string(message.Content), want) {
		s.t.Errorf("the final message is %s (%t), want %q in it", message.Content, ok, want)
	}
}

// peakMemory is the most resident memory that a process has had, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the system does not say how much memory a process has had")
	return 0
}
