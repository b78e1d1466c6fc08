package profile

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMissingCommandIsReportedWithEverythingElse(t *testing.T) {
	_, problems := Parse([]byte("args: one\nmystery: 1\n"), "a", "/p")
	want := []string{"error: command is missing: the program to start, one token", "line 1: error: args must be a list such as [a, b]", "line 2: error: unknown field mystery"}
	if got := problems.Strings(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if _, problems := Parse([]byte("command: [x]\n"), "a", "/p"); len(problems) != 1 {
		t.Errorf("a command of the wrong type is also called missing: %v", problems)
	}
}

func TestSlipsAreRecognised(t *testing.T) {
	for wrong, want := range map[string]string{
		"timout_secs": "timeout_secs", "timeout-secs": "timeout_secs", "Command": "command", "arg": "args", "envs": "", "permissions": "permission",
		"maxruns": "max_runs", "stream": "", "type": "", "cmd": "", "x": "", "timeout": "timeout_secs", "": "",
	} {
		if got := suggest(wrong, fieldNames()); got != want {
			t.Errorf("%q is taken for %q, want %q", wrong, got, want)
		}
	}
}

func TestPlacesAreThoseOfTheFile(t *testing.T) {
	_, problems := Parse([]byte("agentproc:\n  command: x\n  streaming: maybe\n"), "a", "/p")
	if len(problems) != 1 || problems[0].At("f.yaml") != "f.yaml:3:14: error: streaming must be true or false" {
		t.Errorf("got %v", problems)
	}
	if got := (Problem{Text: "no"}).At("f.yaml"); got != "f.yaml: error: no" {
		t.Errorf("the whole file: %q", got)
	}
}

func TestKeysOfOthersAreLeftAlone(t *testing.T) {
	for _, file := range []string{"x-a: 1\nx-a: 2\ncommand: x\n", "x-a: &b {c: d}\nagentproc:\n  command: x\n  x-b: [1]\n"} {
		if p, problems := Parse([]byte(file), "a", "/p"); len(problems) > 0 || p.Command != "x" {
			t.Errorf("%q: %v", file, problems)
		}
	}
}

func TestLongDescriptionIsCutWithAWarning(t *testing.T) {
	p, problems := Parse([]byte("command: x\ndescription: "+strings.Repeat("é", maxDescription+1)+"\n"), "a", "/p")
	if problems.Faulty() || len(problems) != 1 || p.Description != strings.Repeat("é", maxDescription) {
		t.Errorf("%v, %d bytes", problems, len(p.Description))
	}
}

func TestNumbersAreReadAsYAMLWritesThem(t *testing.T) {
	for value, want := range map[string]time.Duration{"5": 5 * time.Second, "1e3": 1000 * time.Second, "0.5": 500 * time.Millisecond, "0": 0} {
		p, problems := Parse([]byte("command: x\nkill_grace_secs: "+value), "a", "/p")
		if p.Grace != want || len(problems) > 0 {
			t.Errorf("%s: %s, %s", value, p.Grace, problems)
		}
	}
	for value, want := range map[string]string{
		"-3": "must be 0 or more", `"5"`: "must be a number of seconds", "soon": "must be a number of seconds", "-1e99": "must be a number of seconds",
	} {
		if _, problems := Parse([]byte("command: x\nkill_grace_secs: "+value), "a", "/p"); !strings.Contains(problems.String(), want) {
			t.Errorf("%s: %s", value, problems)
		}
	}
}

func TestAByteOrderMarkIsNoPartOfTheFirstKey(t *testing.T) {
	if p, problems := Parse([]byte("\ufeffcommand: x\n"), "a", "/p"); p.Command != "x" || len(problems) > 0 {
		t.Errorf("%q, %s", p.Command, problems)
	}
}

func TestAnAliasIsCalledOne(t *testing.T) {
	if _, problems := Parse([]byte("command: x\nenv: {A: b}\nargs: &a [b]\n"), "a", "/p"); !strings.Contains(problems.String(), "anchors and tags are not supported") {
		t.Error(problems)
	}
}
