package story

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// restartWithin is HUB_INTERRUPT_AFTER here: longer than an edge waits between two attempts to reach its hub, short enough to wait for.
const restartWithin = "12s"

// everyState is an edge with a run in each state in which a run can be that has no outcome. A second edge is not there.
type everyState struct {
	*asking
	desk                                                  *rig.Edge
	elsewhere, queued, running, asked, outlived, stopping id.Run
}

func newEveryState(t *testing.T) *everyState {
	t.Helper()
	r := rig.New(t, rig.Options{Env: []string{"HUB_INTERRUPT_AFTER=" + restartWithin}})
	e := &everyState{asking: &asking{scene: &scene{Rig: r, t: t}, book: filepath.Join(t.TempDir(), "book")}}
	ask := r.Program("bridgeagent")
	e.edge = r.AddEdge("laptop", map[string]string{
		"worker":   r.TestAgent("--events", "1000000", "--rate", "20"),
		"asker":    askingProfile(ask, e.book, patient, `{"n":1}`),
		"limited":  askingProfile(ask, e.book, "timeout_secs: 2\n", `{"n":2}`),
		"stubborn": r.TestAgent("--act", "stubborn") + "kill_grace_secs: 600\n",
	})
	e.desk = r.AddEdge("desk", map[string]string{"elsewhere": r.TestAgent("--events", "3")})
	e.desk.Process().Stop()
	e.desk.WaitState(client.EdgeStateOffline)
	e.open(r.HubURL(), r.HubURL())
	e.session = e.b.Group("all", "worker", "asker", "limited", "stubborn", "elsewhere")

	e.outlived = e.begin("limited")
	e.Eventually("the turn limit", func() bool { return strings.HasSuffix(promptEvents(e.Owner().Log(e.outlived)), "run.process_ended") })
	e.asked, e.elsewhere = e.begin("asker"), e.begin("elsewhere")
	e.running, e.queued, e.stopping = e.begin("worker"), e.begin("worker"), e.begin("stubborn")
	e.seenA.UntilEvents(e.running, 5)
	e.seenA.UntilEvents(e.stopping, 3)
	e.cancel(e.stopping)
	e.expect("at first")
	return e
}

// begin asks one of the agents.
func (e *everyState) begin(agent string) id.Run {
	e.t.Helper()
	return e.b.Run(e.session, "@"+agent+" go")
}

// expect checks that each run is where it was put, and says for what it waits.
func (e *everyState) expect(when string) {
	e.t.Helper()
	for run, want := range map[id.Run]client.RunState{
		e.elsewhere: client.RunStateWaitingEdge, e.queued: client.RunStateDispatched, e.running: client.RunStateRunning,
		e.asked: client.RunStateWaitingPerson, e.outlived: client.RunStateWaitingPerson, e.stopping: client.RunStateCancelling,
	} {
		if task := e.Owner().UntilState(run, want); task.Unknown || (task.WaitsFor != "") != (run == e.queued) {
			e.t.Errorf("%s: %s is %s, unknown %t, waits for %q", when, run, task.State, task.Unknown, task.WaitsFor)
		}
	}
}

// ended is settle while other runs go on.
func (e *everyState) ended(run id.Run, want client.RunState) {
	e.t.Helper()
	e.Owner().UntilState(run, want)
	log := e.Owner().Log(run)
	for _, seen := range []*rig.Recorder{e.seenA, e.seenB} {
		seen.UntilSettled(run)
		if got, want := seen.Digest(run), client.LogDigest(log); got != want {
			e.t.Errorf("device saw the log as %s, it is %s", got, want)
		}
	}
}

// still checks that the questions wait, whoever is here.
func (e *everyState) still(when string) {
	e.t.Helper()
	for _, run := range []id.Run{e.asked, e.outlived} {
		if task := e.Owner().Task(run); task.State != client.RunStateWaitingPerson || task.Unknown {
			e.t.Errorf("%s: a run that waits for a person is %s, unknown %t", when, task.State, task.Unknown)
		}
	}
}

// Nothing stays running with nothing running, whoever was killed, and nothing that waits for a person is swept, started again or timed out.
func TestEveryRunEndsOrWaitsHonestlyWhoeverIsKilled(t *testing.T) {
	t.Parallel()
	e := newEveryState(t)
	e.KillHub()
	e.StartHub()
	e.edge.WaitOnline()
	e.expect("the hub was killed")
	e.seenA.UntilEvents(e.running, int(e.Owner().Task(e.running).LastEventSeq)+5)

	e.edge.Kill()
	e.KillHub()
	e.StartHub()
	e.edge.Start()
	e.ended(e.running, client.RunStateInterrupted)
	e.ended(e.stopping, client.RunStateCancelled)
	// The edge appended before it was killed and after, the hub in between.
	if n, by := e.spans(e.stopping); n != 1 || !by["hub"] || !by["edge"] {
		e.t.Errorf("a run without tools has %d spans, of %v", n, by)
	}
	e.Owner().UntilState(e.queued, client.RunStateRunning)
	e.still("both were killed")

	e.edge.Kill() // for so long that the hub gives up what ran, and waits on for people
	e.settle(e.queued, client.RunStateInterrupted)
	e.still("the edge stays away")
	if task := e.Owner().Task(e.elsewhere); task.State != client.RunStateWaitingEdge || task.Unknown {
		t.Errorf("the run for another edge is %s, unknown %t", task.State, task.Unknown)
	}
	e.edge.Start()
	e.edge.WaitOnline()
	for run, used := range map[id.Run]string{e.asked: `{"n":1}`, e.outlived: `{"n":2}`} {
		next := id.Run(e.must(e.prompts(run)[0], allow).Answer.ContinuedByRunID)
		e.expectSaid(next, "1 used "+strings.ReplaceAll(used, `"`, `\"`))
		if n := strings.Count(e.notes(), used); n != 1 {
			t.Errorf("%s was used %d times", used, n)
		}
	}
	e.desk.Start()
	e.settle(e.elsewhere, client.RunStateCompleted)
}
