package conformance_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/conformance"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
)

// wrong is an agent of testdata/wrong: it breaks what its own head says, and nothing else.
type wrong struct {
	path    string
	breaks  []string
	profile profile.Profile
	timeout time.Duration
}

func wrongAgents(t *testing.T) []wrong {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "wrong", "*.sh"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no wrong agents: %v", err)
	}
	var agents []wrong
	for _, path := range paths {
		agents = append(agents, readWrong(t, path))
	}
	return agents
}

func readWrong(t *testing.T, path string) wrong {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	w := wrong{path: path, timeout: time.Minute, profile: profile.Profile{
		Runtime: profile.Bridge, Command: "sh", Args: []string{full}, Grace: 4 * time.Second, Streaming: true,
	}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if rules, ok := strings.CutPrefix(line, "# breaks: "); ok {
			w.breaks = strings.Fields(rules)
		}
		flags, ok := strings.CutPrefix(line, "# with: ")
		for _, flag := range strings.Fields(flags) {
			switch limit, timed := strings.CutPrefix(flag, "timeout="); {
			case timed:
				if w.timeout, err = time.ParseDuration(limit); err != nil {
					t.Fatal(err)
				}
			case ok && strings.HasPrefix(flag, "controls="):
				w.profile.Controls = strings.Split(strings.TrimPrefix(flag, "controls="), ",")
			case ok && flag == "permission":
				w.profile.Permission = true
			case ok && flag == "events":
				w.profile.Runtime = profile.Events
			}
		}
	}
	slices.Sort(w.breaks)
	return w
}

// check plays an agent in a folder of its own.
func check(t *testing.T, p profile.Profile, timeout time.Duration) conformance.Report {
	t.Helper()
	report, err := conformance.Check(context.Background(), host, conformance.Options{
		Agent:   trial.Agent{Profile: p, Edge: profile.Edge{Program: os.Args[0], Lookup: os.LookupEnv}, Dir: t.TempDir()},
		Timeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// broken are the rules that a report says are not kept, those that an agent only should keep included.
func broken(r conformance.Report) []string {
	var rules []string
	for _, f := range r.Findings {
		if f.Status == conformance.Failed || f.Status == conformance.Warned {
			rules = append(rules, string(f.Rule.ID))
		}
	}
	slices.Sort(rules)
	return rules
}

func reasons(r conformance.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Status == conformance.Failed || f.Status == conformance.Warned {
			fmt.Fprintf(&b, "\n\t%s: %s", f.Rule.ID, f.Reason)
		}
	}
	return b.String()
}

func TestEachWrongAgentIsFoundToBreakWhatItBreaks(t *testing.T) {
	for _, w := range wrongAgents(t) {
		t.Run(strings.TrimSuffix(filepath.Base(w.path), ".sh"), func(t *testing.T) {
			t.Parallel()
			report := check(t, w.profile, w.timeout)
			if got := broken(report); !slices.Equal(got, w.breaks) {
				t.Errorf("breaks %v, want %v%s", got, w.breaks, reasons(report))
			}
			if report.OK(true) {
				t.Error("a report with a breach is fine")
			}
		})
	}
}

func TestEveryRuleHasAnAgentThatBreaksIt(t *testing.T) {
	proven := map[string]bool{}
	for _, w := range wrongAgents(t) {
		for _, rule := range w.breaks {
			proven[rule] = true
		}
	}
	for _, runtime := range []profile.Runtime{profile.Bridge, profile.Events} {
		for _, rule := range conformance.Rules(runtime) {
			if !proven[string(rule.ID)] {
				t.Errorf("%s: no agent in testdata/wrong breaks it", rule.ID)
			}
		}
	}
	if t.Failed() {
		t.Logf("proven: %v", slices.Sorted(maps.Keys(proven)))
	}
}
