package story

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// P20 for what the backup does not know at all: one run was over, and one at work, when the hub's disk was lost. The edge shows the hub its own
// signed starts, and both are there again, whole. A conversation that was begun after the backup stays lost, and its run says so in quarantine.
func TestRunsBegunAfterABackupAreRecreatedFromTheirSignedStarts(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--events", "200", "--rate", "150", "--tools")
	file := filepath.Join(s.Dir, "backup")
	s.HubCommand("backup", file)

	over := s.b.Run(s.session, "@worker first")
	before := s.settle(over, client.RunStateCompleted)
	young := s.b.Group("begun after the backup", "worker")
	lost := s.b.Run(young, "@worker lost")
	s.grows(lost, 0, 30)
	working := s.b.Run(s.session, "@worker second")
	s.grows(working, 0, 30)
	s.KillHub()
	s.loseStore()
	s.HubCommand("restore", file)
	s.StartHub()

	for _, run := range []id.Run{over, working} {
		s.Eventually(string(run)+" is known again", func() bool {
			_, err := client.Decode[client.AgentTask](s.Owner().API().GetAgentTask(t.Context(), string(run)))
			return err == nil
		})
	}
	task := s.Owner().UntilState(working, client.RunStateCompleted, client.RunStateFailed, client.RunStateInterrupted)
	if task.State != client.RunStateCompleted || task.SessionID != s.session {
		t.Errorf("recreated as %+v", task)
	}
	s.truth.MustEqual("second", s.Owner().Log(working))
	s.Owner().UntilState(over, client.RunStateCompleted)
	after := s.Owner().Log(over)
	s.truth.MustEqual("first", after)
	if len(after) != len(before) {
		t.Fatalf("the log had %d events, the recreated one has %d", len(before), len(after))
	}
	for i := range after {
		if after[i].EventSeq != before[i].EventSeq || after[i].EventType != before[i].EventType || string(after[i].Payload) != string(before[i].Payload) {
			t.Fatalf("event %d is %+v, it was %+v", i+1, after[i], before[i])
		}
	}
	final := 0
	for _, m := range s.Owner().Messages(s.session) {
		var content struct {
			Task struct {
				ID string `json:"task_id"`
			} `json:"agent_task"`
		}
		if json.Unmarshal(m.Content, &content) == nil && content.Task.ID == string(over) {
			final++
		}
	}
	if final != 1 {
		t.Errorf("the final text of the run was posted %d times", final)
	}
	s.Hub().WaitFor("its conversation is not known either")
	if _, err := client.Decode[client.AgentTask](s.Owner().API().GetAgentTask(t.Context(), string(lost))); client.CodeOf(err) != "not_found" {
		t.Errorf("a run of a lost conversation: %v", err)
	}
	if log := s.Hub().Log().String(); strings.Count(log, "recreated a run that the store had lost") != 2 {
		t.Error("the hub does not say that it recreated two runs")
	}
}
