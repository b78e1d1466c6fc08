package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAgentReadsItsInputAndIsHeardToTheEnd(t *testing.T) {
	lines, exit := follow(t, agent(t, "echo"), "one\ntwo\n", "")
	if !slices.Equal(lines, []string{"one", "two"}) || exit.Code != 0 || !exit.Gone || exit.Stopped {
		t.Fatalf("lines %q, exit %+v", lines, exit)
	}
}

func TestArgumentsReachTheAgentWithoutAShell(t *testing.T) {
	spec := agent(t, "echo")
	spec.Argv = []string{"printf", `%s\n`, "; rm -rf x", "$(id)", "two words", "`id`", "*"}
	lines, _ := follow(t, spec, "", "")
	if !slices.Equal(lines, spec.Argv[2:]) {
		t.Fatalf("the agent saw %q", lines)
	}
}

func TestEnvironmentHoldsTheListedNamesAndNothingElse(t *testing.T) {
	t.Setenv("EDGE_CANARY", "must not be inherited")
	spec := agent(t, "environment")
	spec.Env = Environment(os.LookupEnv, spec.Dir, map[string]string{"OWN": "mine", NonceVariable: "forged"}, spec.Nonce)
	lines, _ := follow(t, spec, "", "")
	allowed := append(infrastructure(), "PWD", "OWN", NonceVariable)
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(allowed, name) {
			t.Errorf("inherited %q", line)
		}
	}
	for _, want := range []string{"OWN=mine", "PWD=" + spec.Dir, NonceVariable + "=" + string(spec.Nonce)} {
		if !slices.Contains(lines, want) {
			t.Errorf("missing %q in %q", want, lines)
		}
	}
}

func TestCommandThatDoesNotExistIsAnErrorOfStart(t *testing.T) {
	for _, name := range []string{"no-such-agent-anywhere", "/no/such/agent", ""} {
		spec := agent(t, "echo")
		spec.Argv[0] = name
		_, err := testHost().Start(spec)
		if !errors.Is(err, ErrNotStarted) || (name != "" && !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNameIsNeverLookedUpInARelativeDirectory(t *testing.T) {
	spec := agent(t, "echo")
	if err := os.WriteFile(filepath.Join(spec.Dir, "tool"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(spec.Dir)
	if path, err := findExecutable("tool", []string{"PATH=.::" + "relative"}); err == nil {
		t.Fatalf("found %s", path)
	}
}

func TestAgentThatExitsAtOnceLeavesItsCodeAndStderr(t *testing.T) {
	lines, exit := follow(t, agent(t, "exit-3"), strings.Repeat("never read", 100_000), "")
	if len(lines) > 0 || exit.Code != 3 || !exit.Gone || exit.Stderr != "something is wrong\n" {
		t.Fatalf("lines %q, exit %+v", lines, exit)
	}
}

func TestGarbageIsReadLineByLine(t *testing.T) {
	lines, exit := follow(t, agent(t, "garbage"), "", "")
	want := []string{"caf\xc3", "nul \x00 inside", "\xff\xfe", "", "last without line end"}
	if !slices.Equal(lines, want) || exit.Code != 0 {
		t.Fatalf("lines %q, exit %+v", lines, exit)
	}
}

func TestHugeLineIsCutWithAMarkerAndTheStreamGoesOn(t *testing.T) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines, exit := follow(t, agent(t, "big-line"), "", "")
	runtime.ReadMemStats(&after)
	if len(lines) != 2 || lines[1] != "after" || exit.Code != 0 {
		t.Fatalf("%d lines, exit %+v", len(lines), exit)
	}
	if marker := CutMarker(40 << 20); !strings.HasSuffix(lines[0], marker) || len(lines[0]) != MaxLine+len(marker) {
		t.Errorf("the line is %d bytes and ends in %q", len(lines[0]), lines[0][len(lines[0])-40:])
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
}

func TestStopLetsTheAgentFinishItsSentence(t *testing.T) {
	spec := agent(t, "flush-on-term")
	spec.Grace = time.Minute
	lines, exit := follow(t, spec, "", "ready")
	if !slices.Equal(lines, []string{"ready", "goodbye"}) || !exit.Stopped || !exit.Gone || exit.Code != 0 {
		t.Fatalf("lines %q, exit %+v", lines, exit)
	}
}

func TestAgentThatNeverEndsIsStopped(t *testing.T) {
	spec := agent(t, "never-ends")
	spec.Grace = time.Minute
	_, exit := follow(t, spec, "", "ready")
	if !exit.Stopped || !exit.Gone || exit.Code != 128+15 {
		t.Fatalf("exit %+v", exit)
	}
}

func TestStopBeforeTheFirstLineEndsTheAgent(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	spec := agent(t, "never-ends")
	p, err := testHost().Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	if exit := p.Follow(ctx, NewInput(), func(Line) {}); !exit.Gone || !exit.Stopped {
		t.Fatalf("exit %+v", exit)
	}
	mustBeGone(t, spec.Nonce)
}

func TestWhatTheAgentWritesCanBeHadAsItIs(t *testing.T) {
	var out, errs strings.Builder
	spec := agent(t, "garbage")
	spec.Stdout = &out
	follow(t, spec, "", "")
	if got := out.String(); got != "caf\xc3\nnul \x00 inside\r\n\xff\xfe\n\nlast without line end" {
		t.Errorf("stdout %q", got)
	}
	spec = agent(t, "exit-3")
	spec.Stderr = &errs
	if _, exit := follow(t, spec, "", ""); errs.String() != exit.Stderr || exit.Stderr == "" {
		t.Errorf("stderr %q, its end %q", errs.String(), exit.Stderr)
	}
}

func TestWhatAnAgentLeavesRunningIsCounted(t *testing.T) {
	leaves := agent(t, "echo")
	leaves.Argv = []string{"sh", "-c", "sleep 1000 &"}
	if _, exit := follow(t, leaves, "", ""); exit.Left == 0 || !exit.Gone {
		t.Errorf("left a child behind: %+v", exit)
	}
	if _, exit := follow(t, agent(t, "echo"), "x\n", ""); exit.Left != 0 {
		t.Errorf("left nothing behind: %+v", exit)
	}
}
