// Package npm builds and packs the TypeScript SDK for tests, and installs it as somebody would who knows nothing of this repository.
package npm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// oldest is the first major version of Node that the SDK is for.
const oldest = 20

// patience is how long one step may take on a loaded machine with a slow network.
const patience = 5 * time.Minute

// Package is the SDK, built, packed, and installed.
type Package struct {
	dir string // of the sources, with what was built beside them and the shared scenarios above
	// Outside is a project in a folder of its own that has installed the tarball, and what it needs on an old Node.
	Outside string
}

var (
	packed  sync.Once
	result  Package
	failure error
	scratch string
)

// Pack builds, packs and installs the SDK, once in a test process. Without Node and npm on this machine the test is skipped.
func Pack(t *testing.T) Package {
	t.Helper()
	Need(t)
	packed.Do(func() { result, failure = pack() })
	if failure != nil {
		t.Fatalf("pack the TypeScript SDK: %v", failure)
	}
	return result
}

// Remove removes what Pack has made. Called when the tests of a process are over.
func Remove() {
	if scratch != "" {
		os.RemoveAll(scratch) //nolint:errcheck // a temporary folder
	}
}

// Need skips the test if this machine has no Node that the SDK is for, or no npm.
func Need(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here: scripts/test-services.sh installs it", program)
		}
	}
	version, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	if err != nil {
		t.Fatalf("ask node for its version: %v", err)
	}
	major, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(string(version)))
	if err != nil || major < oldest {
		t.Skipf("node %s is older than %d: install a newer one", strings.TrimSpace(string(version)), oldest)
	}
}

func pack() (p Package, err error) {
	source := filepath.Join(rig.Root(), "api", "ts")
	modules, err := install(source)
	if err != nil {
		return p, err
	}
	if scratch, err = os.MkdirTemp("", "switchyard-ts-"); err != nil {
		return p, err
	}
	p.dir = filepath.Join(scratch, "api", "ts")
	for _, name := range []string{"package.json", "tsconfig.json", "README.md", "LICENSE", "src", "test"} {
		if err := copyTree(filepath.Join(p.dir, name), filepath.Join(source, name)); err != nil {
			return p, err
		}
	}
	for _, name := range []string{"scenarios.json", "card-scenarios.json"} {
		if err := copyTree(filepath.Join(scratch, "api", name), filepath.Join(rig.Root(), "api", name)); err != nil {
			return p, err
		}
	}
	// What the Go package is held to, too.
	streams := filepath.Join("shared", "omni", "testdata")
	if err := copyTree(filepath.Join(scratch, streams), filepath.Join(rig.Root(), streams)); err != nil {
		return p, err
	}
	if err := os.Symlink(modules, filepath.Join(p.dir, "node_modules")); err != nil {
		return p, err
	}
	if err := npm(p.dir, "pack", "--pack-destination", scratch); err != nil {
		return p, err
	}
	made, err := filepath.Glob(filepath.Join(scratch, "*.tgz"))
	if err != nil || len(made) != 1 {
		return p, fmt.Errorf("npm pack made %v: %w", made, err)
	}
	p.Outside = filepath.Join(scratch, "outside")
	return p, outsider(p.Outside, made[0])
}

// outsider installs the tarball in a new project.
func outsider(dir, tarball string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true, "type": "module"}`), 0o600); err != nil {
		return err
	}
	return npm(dir, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", tarball, "ws")
}

// install has npm install exactly what the lock file says, into a folder that stays for the next run with the same lock file.
func install(source string) (modules string, err error) {
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache := filepath.Join(rig.Root(), "bin", "npm")
	dir := filepath.Join(cache, fmt.Sprintf("%.8x", sha256.Sum256(lock)))
	modules = filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules, nil
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", err
	}
	unfinished, err := os.MkdirTemp(cache, "unfinished-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(unfinished) //nolint:errcheck // it is not there any more, or of no use
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		if err := copyTree(filepath.Join(unfinished, name), filepath.Join(source, name)); err != nil {
			return "", err
		}
	}
	if err := npm(unfinished, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"); err != nil {
		return "", err
	}
	if err := os.Rename(unfinished, dir); err != nil {
		if _, there := os.Stat(modules); there != nil { // another process was not faster either
			return "", err
		}
	}
	return modules, nil
}

func copyTree(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// npm runs npm in a folder; what it says is in the error.
func npm(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm %s: %w\n%s", strings.Join(args, " "), err, out.String())
	}
	return nil
}

// Test runs the SDK's own tests; what they print is in the error.
func (p Package) Test() error { return npm(p.dir, "test") }

// Compiler is the TypeScript compiler that the SDK was built with.
func (p Package) Compiler() string { return filepath.Join(p.dir, "node_modules", ".bin", "tsc") }

// TypeRoots is the folder of the types of Node.
func (p Package) TypeRoots() string { return filepath.Join(p.dir, "node_modules", "@types") }
