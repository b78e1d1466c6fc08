package security

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// The figures of SEC20.
const (
	mostGrowth = 64 << 20  // bytes of memory that a flood may cost the edge
	leastRate  = 100 << 20 // bytes a second of a line that is not kept
)

// SEC20. Not beside other tests: it measures the memory of a process, and how fast it reads.
func TestAFloodCostsBoundedMemoryAndTheRunGoesOn(t *testing.T) {
	r := rig.New(t, rig.Options{Bin: rig.ShippedPrograms(t)})
	profiles := map[string]string{}
	var names []string
	for _, runtime := range []string{"bridge", "events"} {
		for kind, span := range map[string]string{"partials": "3s", "noise": "2s", "endless": "2s", "long": "0s"} {
			name := kind + "-" + runtime
			names = append(names, name)
			profiles[name] = rig.Profile(runtime, r.Program("testagent"), "--flood", kind, "--speak", runtime, "--for", span)
		}
	}
	edge := r.AddEdge("laptop", profiles)
	session := r.Owner().Group("demo", names...)
	idle := memory(t, edge.Process().PID(), "VmRSS")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			forgetPeak(t, edge.Process().PID())
			run := r.Owner().Run(session, "@"+name+" go")
			if task := r.Owner().UntilState(run, client.RunStateCompleted, client.RunStateFailed); task.State != client.RunStateCompleted {
				t.Errorf("the run failed: %+v", task.Error)
			}
			grown := memory(t, edge.Process().PID(), "VmHWM") - idle
			if grown > mostGrowth {
				t.Errorf("memory grew by %d MiB", grown>>20)
			}
			rate := mustEndWell(t, name, r.Owner().Log(run))
			t.Logf("%d MiB a second, memory grew by %d MiB over %d", rate>>20, grown>>20, idle>>20)
		})
	}
}

// SEC20 of lines that are legal: several agents say one of 9.9 MiB at the same time. An answer is held until its process has ended, so there are
// three of those: with the line that is being read they are what the bound has room for.
func TestLargeLinesOfManyAgentsCostBoundedMemory(t *testing.T) {
	for kind, agents := range map[string][]string{"piece": {"one", "two", "three", "four"}, "answer": {"one", "two", "three"}} {
		for _, runtime := range []string{"bridge", "events"} {
			t.Run(kind+" of "+runtime, func(t *testing.T) {
				r := rig.New(t, rig.Options{Bin: rig.ShippedPrograms(t)})
				profiles := map[string]string{}
				for _, name := range agents {
					profiles[name] = rig.Profile(runtime, r.Program("testagent"), "--flood", kind, "--speak", runtime)
				}
				edge := r.AddEdge("laptop", profiles)
				var runs []id.Run
				idle := memory(t, edge.Process().PID(), "VmRSS")
				forgetPeak(t, edge.Process().PID())
				for name := range profiles {
					runs = append(runs, r.Owner().Run(r.Owner().Group(name, name), "@"+name+" go"))
				}
				for _, run := range runs {
					task := r.Owner().UntilState(run, client.RunStateCompleted, client.RunStateFailed)
					if task.State != client.RunStateCompleted {
						t.Errorf("a run failed: %+v", task.Error)
					}
				}
				grown := memory(t, edge.Process().PID(), "VmHWM") - idle
				if grown > mostGrowth {
					t.Errorf("memory grew by %d MiB", grown>>20)
				}
				t.Logf("memory grew by %d MiB over %d", grown>>20, idle>>20)
			})
		}
	}
}

var lastWords = regexp.MustCompile(`still here after (\d+) pieces, (\d+) bytes in (\d+) ms\.$`)

// mustEndWell checks that the log has the agent's last words, every piece of its answer, and a marker for what else was dropped. It returns how
// many bytes a second the agent could print.
func mustEndWell(t *testing.T, name string, log []client.RunEvent) (rate int) {
	t.Helper()
	var answer, output strings.Builder
	for _, e := range log {
		var p struct {
			Delta string   `json:"delta"`
			Lines []string `json:"lines"`
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatal(err)
		}
		answer.WriteString(p.Delta)
		output.WriteString(strings.Join(p.Lines, "\n"))
	}
	words := lastWords.FindStringSubmatch(answer.String())
	if words == nil {
		t.Fatalf("the answer ends in %q", answer.String()[max(0, answer.Len()-200):])
	}
	pieces, printed, ms := number(t, words[1]), number(t, words[2]), number(t, words[3])
	if pieces > 0 {
		if got := strings.Count(answer.String(), "x"); got != pieces*100 {
			t.Errorf("%d bytes of the answer arrived, want %d", got, pieces*100)
		}
		return printed * 1000 / ms
	}
	marker, rate := " cut]", printed*1000/ms
	if strings.HasPrefix(name, "noise") {
		marker = " lines dropped]"
	} else if rate < leastRate {
		t.Errorf("the edge reads %d MiB a second, want %d", rate>>20, leastRate>>20)
	}
	if !strings.Contains(output.String(), marker) {
		t.Error("nothing says that something was dropped")
	}
	return rate
}

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// memory reads a line of proc_pid_status(5), in bytes.
func memory(t *testing.T, pid int, line string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			return number(t, strings.Fields(value)[0]) << 10
		}
	}
	t.Fatalf("the system does not say %s", line)
	return 0
}

// forgetPeak makes VmHWM start again from what the process has now (proc_pid_clear_refs(5)).
func forgetPeak(t *testing.T, pid int) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}
