//go:build unix

package client

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of an open file until it is closed, or returns ErrFolderInUse.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrFolderInUse
	}
	return err
}
