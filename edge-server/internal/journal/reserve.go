package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	reserveName = "reserve"
	maxReserve  = 8 << 20
)

// reserve is a file that occupies space until a full disk makes it go, so that the events that end runs can still be written.
type reserve struct {
	path string
	size int64
}

// newReserve describes the reserve of a journal: the last five percent of its cap, but no more than is ever needed.
func newReserve(home string, limit int64) reserve {
	return reserve{path: filepath.Join(home, reserveName), size: min(limit/20, maxReserve)}
}

// fill writes the file unless it is there. Its blocks are really taken: a sparse file would reserve nothing.
func (r reserve) fill() error {
	if info, err := os.Stat(r.path); err == nil && info.Size() == r.size {
		return nil
	}
	if err := os.WriteFile(r.path, make([]byte, r.size), 0o600); err != nil {
		return errors.Join(fmt.Errorf("fill reserve: %w", err), r.release())
	}
	return nil
}

// release gives the space back to the disk.
func (r reserve) release() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("release reserve: %w", err)
	}
	return nil
}
