// Package durable writes small files that a loss of power neither takes away nor leaves in part. A file's bytes and its name reach the disk
// each by a sync of its own: the name's is that of its folder.
package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const folderMode = 0o700

// Replace puts data in place of the file at path, for its owner alone. Readers, and whoever comes after a crash, find the old bytes or the
// new; once Replace has returned, the new.
func Replace(path string, data []byte) error { return put(path, all(data), os.Rename) }

// Write is Replace with what fill writes, if it succeeds.
func Write(path string, fill func(io.Writer) error) error { return put(path, fill, os.Rename) }

// Create is Replace for a file that is not there; otherwise it changes nothing and the error is fs.ErrExist. Of two that try at once, one
// succeeds.
func Create(path string, data []byte) error { return put(path, all(data), os.Link) }

func all(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// put writes a whole file beside path and then gives it its name.
func put(path string, fill func(io.Writer) error, name func(from, to string) error) error {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // mode 0600
	if err != nil {
		return err
	}
	if err = fill(part); err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = name(part.Name(), path)
	}
	if left := os.Remove(part.Name()); left != nil && !errors.Is(left, os.ErrNotExist) {
		err = errors.Join(err, left)
	}
	if err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// MakeFolder makes a folder for its owner alone, with those above it, unless it is there.
func MakeFolder(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(path)
	if above != path {
		if err := MakeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, folderMode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return SyncFolder(above)
}

// SyncFolder makes durable which names a folder holds and where they lead.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return errors.Join(folder.Sync(), folder.Close())
}
