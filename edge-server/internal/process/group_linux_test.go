package process

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needGroups skips a test of what only control groups can do, on systems that let nobody make one.
func needGroups(t *testing.T) {
	t.Helper()
	g := testHost().groups
	made := g.open(NewNonce())
	defer g.close(made)
	if made.unified == "" {
		t.Skip("optional: this process may make no control groups here")
	}
}

// An agent can shed every other mark: a process whose parent has ended, in a session of its own, with an empty environment.
func TestProcessThatShedAllOtherMarksEndsWithItsGroup(t *testing.T) {
	needGroups(t)
	spec := agent(t, "shed-marks-and-limit")
	lines, exit := followWatching(t, spec, "", "ready", func(p *Process) {
		await(t, "positive control: the other marks lead to the agent alone", func() bool {
			left, _, err := tree{leader: p.self, nonce: p.nonce}.look()
			return err == nil && len(left) == 1
		})
		if members := p.group.members(); len(members) != 2 {
			t.Errorf("the group has %d members, want the agent and what shed its marks", len(members))
		}
	})
	if len(lines) != 1 || !exit.Gone {
		t.Errorf("lines %q, exit %+v", lines, exit)
	}
	mustHaveNoGroup(t, spec.Nonce)
}

func TestSweepEndsWhatAKilledEdgeLeftThoughItShedAllMarks(t *testing.T) {
	needGroups(t)
	nonce := NewNonce()
	if line := killEdge(t, nonce, "shed-marks-and-limit", "with groups"); line != "ready" {
		t.Fatalf("the edge said %q", line)
	}
	host := testHost()
	await(t, "the agent and the process that shed its marks are left", func() bool { return len(host.groups.find(nonce).members()) == 2 })
	if err := host.Sweep(t.Context(), nonce); err != nil {
		t.Fatal(err)
	}
	mustHaveNoGroup(t, nonce) // a group with a process in it cannot be removed
}

// killEdge runs an edge process until its agent has said something, kills it, and returns what was said.
func killEdge(t *testing.T, nonce Nonce, part, groups string) string {
	t.Helper()
	edge := exec.Command(os.Args[0], "agent", "edge", string(nonce), part, groups)
	edge.Dir = t.TempDir()
	said, err := edge.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := edge.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatalf("the edge said %q (%v)", line, err)
	}
	if err := edge.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = edge.Wait() // it was killed
	return strings.TrimSuffix(line, "\n")
}

func TestGroupsOfProcessesThatHaveEndedAreRemoved(t *testing.T) {
	needGroups(t)
	g := testHost().groups
	own := g.open(NewNonce())
	defer g.close(own)
	// A process with this pid has never begun at that time.
	stale := filepath.Join(g.unified.here, ownerPrefix+"1-18446744073709551615", string(NewNonce()))
	if err := os.MkdirAll(stale, 0o755); err != nil {
		t.Fatal(err)
	}
	g.tidy()
	if _, err := os.Stat(filepath.Dir(stale)); !os.IsNotExist(err) {
		t.Errorf("the group of a process that has ended is still there (%v)", err)
	}
	if _, err := os.Stat(own.unified); err != nil {
		t.Errorf("the group of a living process was removed: %v", err)
	}
}

func TestAgentStartsWithoutAGroupWhereTheSystemRefusesOne(t *testing.T) {
	for name, here := range map[string]string{"no folder can be made": "/proc/none", "the folder is no group": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			host := hostLogging(&log, Limits{})
			host.groups.unified = hierarchy{mount: here, here: here}
			for range 2 {
				p, err := host.Start(agent(t, "exit-3"))
				if err != nil {
					t.Fatal(err)
				}
				if exit := p.Follow(t.Context(), NewInput(), func(Line) {}); exit.Code != 3 || !exit.Gone {
					t.Errorf("exit %+v", exit)
				}
			}
			if said := strings.Count(log.String(), "without a control group"); said != 1 {
				t.Errorf("said %d times, want once: %s", said, log.String())
			}
		})
	}
}

func TestNonceThatIsNoneMakesNoGroup(t *testing.T) {
	for _, nonce := range []Nonce{"", "..", "../../escape"} {
		if made := testHost().groups.open(nonce); made != (group{}) {
			t.Errorf("%q made %+v", nonce, made)
		}
	}
}

func mustHaveNoGroup(t *testing.T, nonce Nonce) {
	t.Helper()
	if left := testHost().groups.find(nonce); left != (group{}) {
		t.Errorf("a group is left: %+v", left)
	}
}
