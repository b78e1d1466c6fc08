package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// errHeld says that somebody else holds a lock.
var errHeld = errors.New("held by another process")

// tryLock takes the lock of a file, errHeld if it is taken. The lock ends with the returned file, or with the process. The file itself
// stays: removing it would let two processes hold locks of one name.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = errHeld
	}
	return nil, errors.Join(err, f.Close())
}

// lock waits for the lock of a file until ctx ends.
func lock(ctx context.Context, path string) (*os.File, error) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		f, err := tryLock(path)
		if !errors.Is(err, errHeld) {
			return f, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, ctx.Err())
		}
	}
}
