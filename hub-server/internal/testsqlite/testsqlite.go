// Package testsqlite spares tests the migrations of a fresh SQLite store: they are run once in a test process, and everybody else gets a copy of
// the file. The stores of a process share their epoch, as a store and a copy of it would.
package testsqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var (
	mu   sync.Mutex
	made []byte // what prepare has made, nil before
)

// Put makes a store's file at path, unless there is one. At the first call in this process prepare makes the file that all get; it must have
// closed it, and everybody must pass the same one.
func Put(tb testing.TB, path string, prepare func(path string) error) {
	tb.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	content, err := once(prepare)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		tb.Fatalf("make a store: %v", err)
	}
}

func once(prepare func(path string) error) ([]byte, error) {
	mu.Lock()
	defer mu.Unlock()
	if made == nil {
		content, err := build(prepare)
		if err != nil {
			return nil, err
		}
		made = content
	}
	return made, nil
}

func build(prepare func(path string) error) (content []byte, err error) {
	dir, err := os.MkdirTemp("", "switchyard-testsqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "hub.db")
	if err := prepare(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not all of it: %w", path, err)
	}
	return os.ReadFile(path)
}
