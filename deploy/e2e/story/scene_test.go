package story

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// scene is what most tests here begin with: one edge with the test agent as "worker", two devices of one person, one conversation.
type scene struct {
	*rig.Rig
	t       *testing.T
	edge    *rig.Edge
	a, b    *rig.Device
	seenA   *rig.Recorder
	seenB   *rig.Recorder
	session string
	truth   *rig.Truth
}

// What a person writes to the worker, and what of it the worker is asked.
const (
	order  = "@worker go"
	prompt = "go"
)

// newScene starts everything. agentArgs say how the agent behaves.
func newScene(t *testing.T, agentArgs ...string) *scene {
	t.Helper()
	return sceneOf(t, rig.New(t, rig.Options{}), agentArgs...)
}

// untilTold returns a file for --while of the test agent, which is at work while the file is there, and what removes it. A test that comes in the
// middle of a run tells it when to end: on a slow machine one of so many events may be over before anybody comes.
func untilTold(t *testing.T) (work string, tell func()) {
	t.Helper()
	work = filepath.Join(t.TempDir(), "work")
	if err := os.WriteFile(work, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return work, func() {
		if err := os.Remove(work); err != nil {
			t.Fatal(err)
		}
	}
}

// forever is how many events an agent is asked for that goes on until it is told.
const forever = "1000000"

// sceneOf plays in a rig that is there already.
func sceneOf(t *testing.T, r *rig.Rig, agentArgs ...string) *scene {
	t.Helper()
	s := &scene{Rig: r, t: t, truth: r.NewTruth()}
	s.edge = r.AddEdge("laptop", map[string]string{"worker": r.TestAgent(append(agentArgs, "--truth", s.truth.Path)...)})
	s.open(r.HubURL(), r.HubURL())
	return s
}

// open brings two devices that reach the hub at these addresses.
func (s *scene) open(hubOfA, hubOfB string) {
	s.t.Helper()
	s.a, s.b = s.Device("a", hubOfA), s.Device("b", hubOfB)
	s.seenA, s.seenB = s.a.Watch(), s.b.Watch()
	s.seenA.UntilConnected(1)
	s.seenB.UntilConnected(1)
	s.session = s.b.Group("demo", "worker")
}

// begin asks the worker and waits until device a has seen the run at work.
func (s *scene) begin() id.Run {
	s.t.Helper()
	run := s.b.Run(s.session, order)
	s.seenA.UntilEvents(run, 30)
	return run
}

// settle waits for the end of the run and checks everything that must hold whatever has happened: both devices have seen the same frames in
// the same order, and what they saw of the run is the run's log, byte for byte. It returns the log.
func (s *scene) settle(run id.Run, want client.RunState) []client.RunEvent {
	s.t.Helper()
	task := s.Owner().UntilState(run, client.RunStateCompleted, client.RunStateFailed, client.RunStateCancelled, client.RunStateInterrupted)
	if task.State != want {
		s.t.Errorf("run is %s (%+v), want %s", task.State, task.Error, want)
	}
	log := s.Owner().Log(run)
	for _, seen := range []*rig.Recorder{s.seenA, s.seenB} {
		seen.UntilSettled(run)
		seen.Check()
		if got, want := seen.Digest(run), client.LogDigest(log); got != want {
			s.t.Errorf("device saw the log as %s, it is %s", got, want)
		}
	}
	s.inStep()
	return log
}

// inStep waits until both devices have seen the same. While another run speaks, one may be ahead of the other, but in nothing different.
func (s *scene) inStep() {
	s.t.Helper()
	s.Eventually("both devices having seen the same", func() bool {
		a, b := s.seenA.Frames(), s.seenB.Frames()
		both := min(len(a), len(b))
		if !slices.Equal(a[:both], b[:both]) {
			s.t.Fatalf("devices saw different things:\n%s", rig.Diff(a, b))
		}
		return len(a) == len(b)
	})
}

// complete is settle for a run that nothing may have harmed: the log is what the agent said.
func (s *scene) complete(run id.Run) {
	s.t.Helper()
	s.truth.MustEqual(prompt, s.settle(run, client.RunStateCompleted))
}

// cancel asks for the end of a run, from device a.
func (s *scene) cancel(run id.Run) {
	s.t.Helper()
	if _, err := client.Decode[client.AgentTask](s.a.API().CancelAgentTask(s.t.Context(), string(run), client.CancelInput{})); err != nil {
		s.t.Fatalf("cancel: %v", err)
	}
}
