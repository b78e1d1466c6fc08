package story

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// restores is the figure of promise P20.
const restores = 3

// P20. The hub's disk is lost in the middle of a run, and what is left is a backup made some time before.
func TestAfterARestoreDevicesAreResetAndEdgesSendAgainWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "3000", "--rate", "150", "--tools")
	run := s.begin()
	length := int64(0) // of the log, as far as anybody has seen it
	for n := range restores {
		file := filepath.Join(s.Dir, fmt.Sprintf("backup-%d", n))
		s.HubCommand("backup", file)
		length = s.grows(run, length, 60) // beyond the backup
		s.KillHub()
		s.loseStore()
		s.HubCommand("restore", file)
		s.HubCommand("migrate", "--check")
		s.HubCommand("audit", "verify")
		s.StartHub()
		for _, seen := range []*rig.Recorder{s.seenA, s.seenB} {
			seen.UntilReset(n+1, "other_epoch")
		}
		length = s.grows(run, length, 60) // beyond what was known before
	}
	task := s.Owner().UntilState(run, client.RunStateCompleted, client.RunStateFailed, client.RunStateInterrupted)
	if task.State != client.RunStateCompleted {
		t.Errorf("run is %s (%+v)", task.State, task.Error)
	}
	s.truth.MustEqual(prompt, s.Owner().Log(run))
	next := s.b.Run(s.session, "@worker go on")
	s.grows(next, 0, 10)
	s.cancel(next)
	s.Owner().UntilState(next, client.RunStateCancelled)
	s.HubCommand("audit", "verify")
	if acts := s.HubCommand("audit", "list"); strings.Count(acts, `"act":"store.restored"`) != restores || !strings.Contains(acts, string(next)) {
		t.Errorf("audit log: %s", acts)
	}
}

// grows waits until the log of a run is longer by n than it was, and than it is now, or whole, and returns its length: on a slow machine an agent
// may be done before the last restore, and its edge then sends again what is whole already.
func (s *scene) grows(run id.Run, was, n int64) (length int64) {
	s.t.Helper()
	want := max(was, s.Owner().Task(run).LastEventSeq) + n
	s.Eventually(fmt.Sprintf("event %d of %s", want, run), func() bool {
		task := s.Owner().Task(run)
		length = task.LastEventSeq
		return length >= want || task.State == client.RunStateCompleted
	})
	return length
}

// loseStore removes the hub's database, as a broken disk would.
func (s *scene) loseStore() {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.HubHome(), "hub.db*"))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("no store to lose (%v)", err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			s.t.Fatal(err)
		}
	}
}
