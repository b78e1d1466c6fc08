package rig

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/crashpoint"
)

// Build builds the programs of the system and the agents of tests into dir. flags are those of go build. Agents stand for somebody else's
// programs and have no race detector: an edge gives them nothing of its environment, and they would end a second late (see raceSetting).
func Build(dir string, flags ...string) error {
	ofAgents := flags
	if slices.Contains(flags, "-race") {
		ofAgents = nil
	}
	return errors.Join(build(dir, nil, flags, "./hub-server/cmd/...", "./edge-server/cmd/..."),
		build(dir, nil, ofAgents, "./deploy/e2e/cmd/testagent", "./deploy/e2e/cmd/bridgeagent"))
}

// BuildOnly builds one program of deploy/e2e/cmd into dir.
func BuildOnly(dir, name string, flags ...string) error {
	return build(dir, nil, flags, "./deploy/e2e/cmd/"+name)
}

// BuildAside builds a program of the repository that is no part of the system, by its folder from the root, into dir.
func BuildAside(dir, folder string, flags ...string) error {
	return build(dir, nil, flags, "./"+folder)
}

func build(dir string, env, flags []string, packages ...string) error {
	args := append([]string{"build", "-o", dir + "/"}, flags...)
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = Root()
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// built are programs of this test process, built once.
type built struct {
	once sync.Once
	dir  string
	err  error
}

var (
	usual    built
	shipped  built // without the race detector, which multiplies memory
	crashing built // with the places of package crashpoint
	clocked  built // with a wall clock of their own
)

// raceFlags are the race detector, without SQLite: as in scripts/test.sh, which says why, so that what it has compiled is compiled once.
var raceFlags = []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false"}

func (b *built) folder(t TB, build func(dir string, flags ...string) error) string {
	t.Helper()
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "switchyard-bin-"); b.err != nil {
			return
		}
		var flags []string
		if raceEnabled {
			flags = slices.Clone(raceFlags)
		}
		b.err = build(b.dir, flags...)
	})
	if b.err != nil {
		t.Fatalf("%v", b.err)
	}
	return b.dir
}

// Programs returns the folder of the programs.
func Programs(t TB) string {
	t.Helper()
	return usual.folder(t, Build)
}

// ShippedPrograms returns the folder of the programs as people get them, for tests that measure.
func ShippedPrograms(t TB) string {
	t.Helper()
	if !raceEnabled {
		return Programs(t)
	}
	return shipped.folder(t, func(dir string, _ ...string) error {
		// As the Makefile has it, so that what it has compiled need not be compiled again.
		return build(dir, []string{"CGO_ENABLED=0"}, []string{"-trimpath", "-buildvcs=false"},
			"./hub-server/cmd/...", "./edge-server/cmd/...", "./deploy/e2e/cmd/testagent")
	})
}

// CrashingEdge returns the path of an edge-server that a test can end at a place of package crashpoint.
func CrashingEdge(t TB) string {
	t.Helper()
	dir := crashing.folder(t, func(dir string, flags ...string) error {
		return build(dir, nil, append(flags, "-tags", crashpoint.Tag), "./edge-server/cmd/...")
	})
	return filepath.Join(dir, "edge-server")
}

// RemovePrograms deletes what this process has built. Call it from TestMain.
func RemovePrograms() {
	for _, dir := range []string{usual.dir, shipped.dir, crashing.dir, clocked.dir} {
		if dir != "" {
			os.RemoveAll(dir) //nolint:errcheck // a leftover in the temporary folder
		}
	}
}

// Root is the folder of this repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
}

// Ports that the rig gives out lie below those that the system takes for outgoing connections: a program that is killed and started again
// finds its port still free.
const (
	firstPort = 20_000
	lastPort  = 32_000
)

// FreeAddr is a loopback address that was free a moment ago.
func FreeAddr(t TB) string {
	t.Helper()
	const tries = 100
	for range tries {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue // somebody has it
		}
		if err := l.Close(); err != nil {
			t.Fatalf("find a free port: %v", err)
		}
		return addr
	}
	t.Fatalf("found no free port between %d and %d", firstPort, lastPort)
	return ""
}
