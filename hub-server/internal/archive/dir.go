package archive

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/shared/durable"
)

// Dir is the folder that archives are in, readable by its owner alone. Safe for concurrent use, also by several processes.
type Dir string

// Write writes an archive and returns after all of it, its name too, is on disk. fill adds the events. A file of that name is
// replaced, by one with the same content.
func (d Dir) Write(h Header, fill func(*Writer) error) (done Summary, err error) {
	if err := durable.MakeFolder(string(d)); err != nil {
		return Summary{}, fmt.Errorf("make folder of archives: %w", err)
	}
	err = durable.Write(filepath.Join(string(d), h.File()), func(file io.Writer) error {
		w, err := NewWriter(file, h)
		if err != nil {
			return err
		}
		if err := fill(w); err != nil {
			return err
		}
		done, err = w.Close()
		return err
	})
	if err != nil {
		return Summary{}, fmt.Errorf("write archive of %s: %w", h.Run, err)
	}
	return done, nil
}

// Verify reads the archive of that name to its end.
func (d Dir) Verify(name string) (h Header, s Summary, err error) {
	err = d.with(name, func(file *os.File) error {
		h, s, err = Verify(file)
		return err
	})
	return h, s, err
}

// Read calls each with every event of the archive of that name, after it has made sure that the archive is whole.
func (d Dir) Read(name string, each func(Header, Event) error) error {
	if _, _, err := d.Verify(name); err != nil {
		return err
	}
	return d.with(name, func(file *os.File) error {
		r, err := NewReader(file)
		if err != nil {
			return err
		}
		for range r.Header.To - r.Header.From + 1 {
			e, err := r.Next()
			if err != nil {
				return err
			}
			if err := each(r.Header, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d Dir) with(name string, use func(*os.File) error) error {
	file, err := os.Open(filepath.Join(string(d), filepath.Base(name)))
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	if err := use(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
