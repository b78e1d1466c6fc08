package rig

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Clock is the wall clock of processes that were built to have one of their own (ClockPrograms). Their monotonic clock is everybody's.
type Clock struct {
	t    TB
	path string
}

// NewClock returns a clock that is ahead of the machine's by so much. It may be behind.
func NewClock(t TB, ahead time.Duration) *Clock {
	t.Helper()
	c := &Clock{t: t, path: filepath.Join(t.TempDir(), "clock")}
	c.Set(ahead)
	return c
}

// Set makes it jump, in every process that has it.
func (c *Clock) Set(ahead time.Duration) {
	c.t.Helper()
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY, 0o600) // it is not truncated: processes have it in their memory
	if err != nil {
		c.t.Fatalf("set clock: %v", err)
	}
	defer f.Close() //nolint:errcheck // the write is what counts
	if _, err := f.Write(binary.NativeEndian.AppendUint64(nil, uint64(ahead/time.Second))); err != nil {
		c.t.Fatalf("set clock: %v", err)
	}
}

// Setting is the environment variable that gives a process this clock.
func (c *Clock) Setting() string { return "SWITCHYARD_TEST_CLOCK=" + c.path }

// ClockPrograms returns the folder of servers that can have a Clock. It skips the test where there are none.
func ClockPrograms(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("optional: wrong clocks are made for linux/amd64 only")
	}
	return clocked.folder(t, func(dir string, flags ...string) error {
		overlay, err := clockOverlay(dir)
		if err != nil {
			return err
		}
		return Build(dir, append(flags, "-overlay", overlay)...)
	})
}

// clockOverlay writes which files are laid over which folders, and returns where it did.
func clockOverlay(dir string) (path string, err error) {
	const files = "deploy/e2e/internal/rig/testdata/clock"
	replace := map[string]string{}
	for _, main := range []string{"hub-server/cmd/hub-server", "edge-server/cmd/edge-server"} {
		for _, name := range []string{"clock.go", "clock_linux_amd64.s"} {
			replace[filepath.Join(Root(), main, "test"+name)] = filepath.Join(Root(), files, name)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "clock.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	return path, nil
}
