package rig

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Build builds the programs of the system into dir. flags are those of go build.
func Build(dir string, flags ...string) error {
	args := append([]string{"build", "-o", dir + "/"}, flags...)
	cmd := exec.Command("go", append(args, "./hub-server/cmd/...", "./edge-server/cmd/...", "./deploy/e2e/cmd/testagent", "./deploy/e2e/cmd/bridgeagent")...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// built are the programs of this test process, built once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// Programs returns the folder of the programs. The first call builds them, with the race detector if the test has it.
func Programs(t TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "switchyard-bin-"); built.err != nil {
			return
		}
		var flags []string
		if raceEnabled {
			flags = []string{"-race"}
		}
		built.err = Build(built.dir, flags...)
	})
	if built.err != nil {
		t.Fatalf("%v", built.err)
	}
	return built.dir
}

// RemovePrograms deletes what this process has built. Call it from TestMain.
func RemovePrograms() {
	if built.dir != "" {
		os.RemoveAll(built.dir) //nolint:errcheck // a leftover in the temporary folder
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
