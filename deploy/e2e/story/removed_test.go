package story

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Whoever removes an edge wants nothing of it to run on: the edge ends its agents and itself, the hub ends their runs.
func TestARemovedEdgeEndsItsAgentsAndItself(t *testing.T) {
	s := newScene(t, "--events", "100000", "--rate", "50")
	run := s.b.Run(s.session, "@worker go")
	s.seenA.UntilFrames(30)
	if _, err := client.Decode[client.Nothing](s.Owner().API().RevokeEdge(t.Context(), s.edge.ID)); err != nil {
		t.Fatal(err)
	}
	if code := s.edge.Process().Wait(rig.Patience); code != 1 {
		t.Errorf("the edge ended with code %d, want 1", code)
	}
	task := s.Owner().UntilState(run, client.RunStateInterrupted)
	if task.Error.Code != "" && task.Error.Code != string(fault.EdgeRevoked) {
		t.Errorf("the run ended with %+v", task.Error)
	}
	if left := processesBelow(t, s.edge.Home); len(left) > 0 {
		t.Errorf("agents that run on: %v", left)
	}
}

// processesBelow lists the processes that work in a folder, or below it.
func processesBelow(t *testing.T, folder string) (found []string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range processes {
		if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(dir, folder) {
			found = append(found, link)
		}
	}
	return found
}
