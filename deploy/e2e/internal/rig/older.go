package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoHistory says that the sources of an older version are not at hand.
var ErrNoHistory = errors.New("the history of this repository is not here")

// OlderHub builds hub-server as it was at a commit, into dir, and returns the program's path.
func OlderHub(dir, commit string) (program string, err error) {
	archive := exec.Command("git", "archive", "--output", filepath.Join(dir, "older.tar"), commit, "hub-server", "shared")
	archive.Dir = Root()
	if out, err := archive.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: git archive %s: %w\n%s", ErrNoHistory, commit, err, out)
	}
	unpack := exec.Command("tar", "-xf", "older.tar")
	unpack.Dir = dir
	if out, err := unpack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack: %w\n%s", err, out)
	}
	program = filepath.Join(dir, "older-hub-server")
	compile := exec.Command("go", "build", "-o", program, "./cmd/hub-server")
	compile.Dir = filepath.Join(dir, "hub-server")
	compile.Env = append(os.Environ(), "GOWORK=off")
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the older hub: %w\n%s", err, out)
	}
	return program, nil
}
