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
	name string // of the folder, where test processes share it

	once sync.Once
	dir  string
	own  bool // nobody else uses the folder
	err  error
}

var (
	usual    = built{name: "usual"}
	shipped  = built{name: "shipped"}  // without the race detector, which multiplies memory
	crashing = built{name: "crashing"} // with the places of package crashpoint
	clocked  = built{name: "clocked"}  // with a wall clock of their own
)

// shared names the folder that holds what the test processes of one `make test` have built, one process after the other: linking takes long.
const shared = "SWITCHYARD_TEST_PROGRAMS"

// raceFlags are the race detector, without SQLite: as in scripts/test.sh, which says why, so that what it has compiled is compiled once.
var raceFlags = []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false"}

func (b *built) folder(t TB, build func(dir string, flags ...string) error) string {
	t.Helper()
	b.once.Do(func() { b.err = b.make(build) })
	if b.err != nil {
		t.Fatalf("%v", b.err)
	}
	return b.dir
}

// make finds what an earlier process has built, or builds it.
func (b *built) make(build func(dir string, flags ...string) error) (err error) {
	whole := ""
	if root := os.Getenv(shared); root != "" {
		whole = filepath.Join(root, b.name)
		if _, err := os.Stat(whole); err == nil {
			b.dir = whole
			return nil
		}
	}
	if b.dir, err = os.MkdirTemp(os.Getenv(shared), "switchyard-bin-"); err != nil {
		return err
	}
	b.own = whole == ""
	var flags []string
	if raceEnabled {
		flags = slices.Clone(raceFlags)
	}
	if err := build(b.dir, flags...); err != nil || b.own {
		return err
	}
	if err := os.Rename(b.dir, whole); err != nil {
		return err
	}
	b.dir = whole
	return nil
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

// RemovePrograms deletes what this process has built for itself alone. Call it from TestMain.
func RemovePrograms() {
	for _, b := range []*built{&usual, &shipped, &crashing, &clocked} {
		if b.own {
			os.RemoveAll(b.dir) //nolint:errcheck // a leftover in the temporary folder
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
