package journal_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
)

// What a killed edge was just starting has its files, the lock too, until the exec that closes them.
func TestLockThatIsGivenBackInAMomentIsWaitedFor(t *testing.T) {
	opts := options(t.TempDir())
	if err := open(t, opts).stop(); err != nil {
		t.Fatal(err)
	}
	held := holdLock(t, filepath.Join(opts.Home, "journal.lock"))
	const moment = 50 * time.Millisecond
	release := time.AfterFunc(moment, func() { held.Close() }) //nolint:errcheck // closing gives the lock back
	defer release.Stop()
	begin := time.Now()
	j, err := journal.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(begin); waited < moment/2 {
		t.Errorf("opened after %s, while the lock was held", waited)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func holdLock(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	return f
}
