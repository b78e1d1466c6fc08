package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// MaxFile bounds a file that leaves a workspace, in bytes.
const MaxFile = 64 << 20

// OpenFile opens a file of the workspace dir for reading. name is relative to dir, or absolute and inside it. Only regular files with one
// name, up to MaxFile bytes, come out (SEC21): no path and no link leads out of the workspace. Every error is a fault whose sentence the agent's
// user may read.
func OpenFile(dir, name string) (io.ReadCloser, error) {
	relative, err := within(dir, name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(err, name)
	}
	defer root.Close()
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	file, err := root.OpenFile(relative, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unreadable(err, name)
	}
	if err := check(file, name); err != nil {
		file.Close()
		return nil, err
	}
	return limited{io.LimitReader(file, MaxFile), file}, nil
}

// limited ends a file that grows while it is read.
type limited struct {
	io.Reader
	io.Closer
}

func within(dir, name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", fault.New(fault.InvalidRequest, "A file without a usable name cannot be kept.")
	}
	if !filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	relative, err := filepath.Rel(dir, name)
	if err != nil || !filepath.IsLocal(relative) {
		return "", outside(name)
	}
	return relative, nil
}

func check(file *os.File, name string) error {
	info, err := file.Stat()
	if err != nil {
		return unreadable(err, name)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return fault.New(fault.InvalidRequest, "%.200q is not a regular file.", name)
	case ok && stat.Nlink > 1:
		return fault.New(fault.InvalidRequest, "%.200q has another name elsewhere (a hard link), so it may be anybody's file.", name)
	case info.Size() > MaxFile:
		return fault.New(fault.TooLarge, "%.200q is larger than %d MiB.", name, MaxFile>>20)
	}
	return nil
}

func unreadable(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.NotFound, "There is no file %.200q in the workspace.", name)
	}
	// What os.Root refuses to follow has no error of its own to ask for.
	return fault.Wrap(err, fault.InvalidRequest, "%.200q cannot be read, or leads out of the workspace.", name)
}

func outside(name string) error {
	return fault.New(fault.InvalidRequest, "%.200q is outside of the workspace.", name)
}
