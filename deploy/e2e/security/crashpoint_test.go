package security

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/crashpoint"
)

// What can end a process from its environment is for tests alone: a program that is built as usual does not even know the variable. That
// a program for tests does is what package faults lives by.
func TestProgramsKnowNoCrashPoints(t *testing.T) {
	t.Parallel()
	variable, _, _ := strings.Cut(crashpoint.Setting(crashpoint.RunIntended, 1), "=")
	for _, name := range []string{"edge-server", "hub-server"} {
		program, err := os.ReadFile(filepath.Join(rig.Programs(t), name))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{variable, string(crashpoint.RunIntended)} {
			if bytes.Contains(program, []byte(word)) {
				t.Errorf("%s holds %q", name, word)
			}
		}
		if !bytes.Contains(program, []byte("EDGE_HOME")) && !bytes.Contains(program, []byte("HUB_HOME")) {
			t.Errorf("positive control: not even the name of a variable that %s reads is found", name)
		}
	}
}
