//go:build unix

package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// ErrLocked is returned by Open for a SQLite file that another hub process has open.
var ErrLocked = errors.New("another hub process uses this store; stop it, or give this one another HUB_HOME")

// lockFile takes an exclusive lock on path for the life of this process and returns how to give it back. The kernel releases it when
// the process dies, so a file left behind never blocks a start.
func lockFile(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close() //nolint:errcheck // the lock's error is the one to report
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// Unlocked by name: a process that is being started from here holds a copy of the descriptor for a moment, and with it the lock.
	return sync.OnceValue(func() error {
		return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
	}), nil
}
