// Package modproxy lays modules of this repository out as the folder of a Go module proxy, so that a test can fetch them as somebody does who
// has never seen the repository: no go.work, no replace.
package modproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Add puts the module in the folder dir under proxy, as the given version. Its go.mod is served as it is: of other modules here it must
// require versions that are in the proxy too.
func Add(proxy, dir string, version module.Version) error {
	escaped, err := module.EscapePath(version.Path)
	if err != nil {
		return fmt.Errorf("add module: %w", err)
	}
	versions := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil { //nolint:gosec // as public as a proxy
		return fmt.Errorf("add module: %w", err)
	}
	place := func(ending string) string { return filepath.Join(versions, version.Version+ending) }
	if err := errors.Join(
		write(filepath.Join(versions, "list"), func(w io.Writer) error { _, err := fmt.Fprintln(w, version.Version); return err }),
		write(place(".info"), func(w io.Writer) error { return json.NewEncoder(w).Encode(info{version.Version, time.Now().UTC()}) }),
		write(place(".zip"), func(w io.Writer) error { return zip.CreateFromDir(w, version, dir) }),
		write(place(".mod"), func(w io.Writer) error { return copyFile(w, filepath.Join(dir, "go.mod")) }),
	); err != nil {
		return fmt.Errorf("add %s: %w", version, err)
	}
	return nil
}

// info is what a proxy says of a version.
type info struct {
	Version string
	Time    time.Time
}

func write(name string, fill func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
