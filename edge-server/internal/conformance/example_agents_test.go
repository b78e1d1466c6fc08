package conformance_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

var here = profile.Edge{Program: os.Args[0], Lookup: os.LookupEnv}

// examples are the agents of examples/agents whose interpreter is on this machine.
func examples(t *testing.T) []profile.Profile {
	t.Helper()
	files, err := profile.Files(filepath.Join("..", "..", "..", "examples", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	var found []profile.Profile
	for _, file := range profile.ReadFiles(files, here) {
		if file.Problems.Faulty() {
			t.Errorf("%s: %s", file.Path, file.Problems)
		}
		if _, err := exec.LookPath(file.Profile.Command); err != nil {
			t.Logf("%s: no %s on this machine", file.Path, file.Profile.Command)
			continue
		}
		found = append(found, file.Profile)
	}
	if len(found) == 0 {
		t.Fatal("no example can be tried")
	}
	return found
}

func TestShippedExamplesKeepEveryRule(t *testing.T) {
	for _, p := range examples(t) {
		t.Run(string(p.Name), func(t *testing.T) {
			t.Parallel()
			report := check(t, p, time.Minute)
			if !report.OK(true) {
				t.Errorf("breaks %v%s", broken(report), reasons(report))
			}
		})
	}
}

// decider answers each tool with what it has for it; the input of a tool in changed is changed.
type decider struct {
	trial.Nobody
	allowed map[string]bool
	changed map[string]string
}

func (d decider) Approve(_ context.Context, r bridge.PermissionRequest) bridge.PermissionResponse {
	if !d.allowed[r.ToolName] {
		return bridge.PermissionResponse{Behavior: bridge.Deny, Message: "Not now."}
	}
	return bridge.PermissionResponse{Behavior: bridge.Allow, UpdatedInput: json.RawMessage(d.changed[r.ToolName])}
}

func TestHelpersOfAgentsCarryPermissionsThere(t *testing.T) {
	for _, p := range examples(t) {
		if !strings.HasPrefix(string(p.Name), "guard-") {
			continue
		}
		for name, tt := range map[string]struct {
			decider decider
			said    string
			note    string // the file that is there afterwards
			old     bool   // the old one still is
		}{
			"both allowed": {decider{allowed: map[string]bool{"Write": true, "Delete": true}}, "Wrote note.txt. Deleted old-note.txt.", "note.txt", false},
			"one denied":   {decider{allowed: map[string]bool{"Write": true}}, "Wrote note.txt. Deleted nothing. Not now.", "note.txt", true},
			"both denied":  {decider{}, "Wrote nothing. Not now. Deleted nothing. Not now.", "", true},
			"input changed": {
				decider{allowed: map[string]bool{"Write": true}, changed: map[string]string{"Write": `{"path":"other.txt","text":"mine"}`}},
				"Wrote other.txt. Deleted nothing. Not now.", "other.txt", true,
			},
		} {
			t.Run(string(p.Name)+"/"+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "old-note.txt"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				var said, beside strings.Builder
				a := trial.Agent{Profile: p, Edge: here, Dir: dir}
				result, err := a.Play(t.Context(), host, bridge.Turn{Message: "keep “this”"}, tt.decider, &trial.Screen{Out: &said, Err: &beside})
				if err != nil || result.ExitCode != 0 || said.String() != tt.said {
					t.Fatalf("said %q, want %q; %+v, %v\n%s", said.String(), tt.said, result, err, beside.String())
				}
				if _, err := os.Stat(filepath.Join(dir, "old-note.txt")); os.IsNotExist(err) == tt.old {
					t.Errorf("old note: %v", err)
				}
				if tt.note != "" {
					want := map[string]string{"note.txt": "keep “this”", "other.txt": "mine"}[tt.note]
					if got, err := os.ReadFile(filepath.Join(dir, tt.note)); err != nil || string(got) != want {
						t.Errorf("%s: %q, %v", tt.note, got, err)
					}
				}
			})
		}
	}
}
