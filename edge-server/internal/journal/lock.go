package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process has the journal open.
var ErrLocked = errors.New("the journal is in use by another edge-server")

// lockPatience is how long the lock may be held by what a killed edge was just starting: between its fork and its exec, a new process has
// the files of its parent, this one too.
const lockPatience = time.Second

// lockFile holds an advisory lock on path for as long as the returned file is open. The kernel frees it when the process dies.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err = awaitLock(ctx, f); err == nil {
		return f, nil
	}
	f.Close() //nolint:errcheck // nothing was written
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w (%s)", ErrLocked, path)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// awaitLock polls: a lock that is waited for would hold up a stop.
func awaitLock(ctx context.Context, f *os.File) error {
	const pause = 20 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for deadline := time.Now().Add(lockPatience); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
