package story

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// followed is what a `follow --json` has printed in whole lines.
func followed(t *testing.T, p *rig.Process) (seen []event.Envelope) {
	t.Helper()
	for line := range strings.Lines(p.Out().String()) {
		if !strings.HasSuffix(line, "\n") {
			break // it was killed while it wrote
		}
		e, err := event.ParseRow([]byte(strings.TrimSuffix(line, "\n")))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen = append(seen, e)
	}
	return seen
}

// expectSame compares what was followed on the edge with the run's log on the hub. The numbers differ by nature; everything else is the same.
func expectSame(t *testing.T, run id.Run, seen []event.Envelope, log []client.RunEvent) {
	t.Helper()
	if len(seen) != len(log) {
		t.Fatalf("%d events were followed, the log has %d", len(seen), len(log))
	}
	for i, e := range seen {
		want := log[i]
		if e.Scope.RunID != run || string(e.ID) != want.ID || string(e.Type) != want.WireType || string(e.Payload) != string(want.Payload) {
			t.Fatalf("event %d is %s %s %s, in the log %s %s %s", i, e.ID, e.Type, e.Payload, want.ID, want.WireType, want.Payload)
		}
		if i > 0 && e.Seq != seen[i-1].Seq+1 {
			t.Fatalf("%d follows %d", e.Seq, seen[i-1].Seq)
		}
	}
}

// A program of the edge's machine is killed in the middle and goes on with the next number, while the hub is away: what it has in the end is the
// log that the hub commits when it is back.
func TestAProgramOfTheEdgesMachineFollowsARunWhileTheHubIsAway(t *testing.T) {
	t.Parallel()
	work, tell := untilTold(t)
	s := newScene(t, "--events", forever, "--rate", "150", "--tools", "--while", work)
	run := s.begin()
	first := s.edge.Command("follow", "--cursor", "1", "--json")
	first.WaitFor(`"seq":35,`)
	s.KillHub()
	first.Kill()
	seen := followed(t, first)
	next := seen[len(seen)-1].Seq + 1
	second := s.edge.Command("follow", "--cursor", strconv.FormatUint(next, 10), "--json")
	second.WaitFor(`"type":"run.agent.tool_result"`) // it has found its place
	tell()
	second.WaitFor(`"type":"run.finished"`)
	s.StartHub()
	s.complete(run)
	seen = append(seen, followed(t, second)...)
	expectSame(t, run, seen, s.Owner().Log(run))

	runs := s.edge.Command("runs", "--json")
	var list struct {
		Items []struct {
			RunID   id.Run `json:"run_id"`
			Phase   string `json:"phase"`
			LastSeq uint64 `json:"last_seq"`
		}
	}
	if code := runs.Wait(rig.Patience); code != 0 || json.Unmarshal([]byte(runs.Out().String()), &list) != nil {
		t.Fatalf("runs ended with %d: %s", code, runs.Out())
	}
	last := seen[len(seen)-1].Seq
	if len(list.Items) != 1 || list.Items[0].RunID != run || list.Items[0].Phase != "ended" || list.Items[0].LastSeq != last {
		t.Errorf("runs are %+v", list)
	}

	s.edge.Process().Stop()
	code := second.Wait(10 * time.Second)
	if want := fmt.Sprintf("--cursor %d", last+1); code != 1 || !strings.Contains(second.Log().String(), want) {
		t.Errorf("follow ended with %d: %s, want %s", code, second.Log(), want)
	}
}
