package doctest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/repolint"
)

func repository(t *testing.T) (root string, documents []Document) {
	t.Helper()
	root, err := repolint.Root()
	if err != nil {
		t.Fatal(err)
	}
	documents, err = Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) == 0 {
		t.Fatal("no document found")
	}
	return root, documents
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	root, documents := repository(t)
	for _, broken := range BrokenLinks(root, documents) {
		t.Error(broken)
	}
}

func TestEveryTargetNamedInADocumentExists(t *testing.T) {
	root, documents := repository(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		for _, m := range Targets(d) {
			if !regexp.MustCompile(`(?m)^` + m.Name + `:`).Match(makefile) {
				t.Errorf("%s:%d: make %s: no such target", m.Path, m.Line, m.Name)
			}
		}
	}
}

func TestEverySettingNamedInADocumentIsReadByAProgram(t *testing.T) {
	root, documents := repository(t)
	known := inSource(t, root, settingPattern)
	for _, d := range documents {
		for _, m := range Settings(d) {
			if !known[m.Name] {
				t.Errorf("%s:%d: %s: no program reads it", m.Path, m.Line, m.Name)
			}
		}
	}
}

func TestEveryTestNamedInADocumentExists(t *testing.T) {
	root, documents := repository(t)
	missing, err := Unproven(root, documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Error(m)
	}
}

func TestEveryGuaranteeNamesATest(t *testing.T) {
	root, _ := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	promises := Promises(string(text))
	if len(promises) == 0 {
		t.Fatal("docs/guarantees.md promises nothing")
	}
	for _, p := range promises {
		if p.Proofs == 0 {
			t.Errorf("docs/guarantees.md:%d: %s names no test", p.Line, p.Number)
		}
	}
}

// guarded are the promises that have to be seen to fail when they are broken. P21 is a measurement.
func guarded() []string {
	promises := []string{"P20", "P22", "P23", "P24", "SEC14", "SEC23", "SEC25"}
	for n := 1; n <= 13; n++ {
		promises = append(promises, fmt.Sprint("P", n))
	}
	return promises
}

func TestEveryGuardedPromiseHasAPositiveControl(t *testing.T) {
	root, _ := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, promise := range Uncontrolled(string(text), "Positive controls", guarded()) {
		t.Errorf("docs/guarantees.md: %s has no positive control", promise)
	}
}

// inSource returns what matches pattern in the source of the programs.
func inSource(t *testing.T, root string, pattern *regexp.Regexp) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := repolint.Walk(root, func(name string) error {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		for _, found := range pattern.FindAllString(string(source), -1) {
			known[found] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestEveryMetricNamedInADocumentIsKept(t *testing.T) {
	root, documents := repository(t)
	known := inSource(t, root, regexp.MustCompile(`"[a-z][a-z0-9_]*[a-z0-9]"`))
	for _, d := range documents {
		for _, m := range Metrics(d) {
			if !known[`"`+m.Name+`"`] {
				t.Errorf("%s:%d: %s: no program keeps it", m.Path, m.Line, m.Name)
			}
		}
	}
}

// needProgram skips t where the programs were not built; make test and make check build them first.
func needProgram(t *testing.T, root, name string) string {
	t.Helper()
	program := filepath.Join(root, "bin", name)
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("bin/%s is missing: run make build first", name)
		}
		t.Skipf("bin/%s is missing: run make build first", name)
	}
	return program
}

// command prepares a program that runs from the root with no login and no state of the person who runs the tests.
func command(t *testing.T, root, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, program, arguments...)
	c.Dir = root
	c.Env = append(os.Environ(), "HUB_HOME="+t.TempDir(), "EDGE_HOME="+t.TempDir(), "YARD_HOME="+t.TempDir())
	return c
}

func TestEveryCommandNamedInADocumentExists(t *testing.T) {
	root, documents := repository(t)
	for _, name := range []string{"yard", "edge-server", "hub-server"} {
		program := needProgram(t, root, name)
		asked := map[string]bool{}
		for _, d := range documents {
			for _, m := range Commands(d, name) {
				if asked[m.Name] {
					continue
				}
				asked[m.Name] = true
				help := command(t, root, program, append(strings.Fields(m.Name), "--help")...)
				if out, err := help.CombinedOutput(); err != nil {
					t.Errorf("%s:%d: %s %s --help: %v\n%s", m.Path, m.Line, name, m.Name, err, out)
				}
			}
		}
	}
}

func TestMarkedCommandsWork(t *testing.T) {
	root, documents := repository(t)
	needProgram(t, root, "yard")
	ran := 0
	for _, d := range documents {
		for _, block := range d.Blocks {
			if !block.Tested {
				continue
			}
			ran++
			if out, err := command(t, root, "sh", "-euc", block.Code).CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v\n%s%s", d.Path, block.Line, err, block.Code, out)
			}
		}
	}
	if ran == 0 {
		t.Error("no document has a block after " + tested)
	}
}
