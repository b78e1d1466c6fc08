package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Folder writes the traces of a stream into a directory. What stands there already is not written but compared: so a folder is gone on with by
// telling it the stream from its beginning, and nothing that differs is ever overwritten. A Folder is not safe for concurrent use; two of one
// directory must not be at work at once.
type Folder struct {
	dir     string
	check   bool
	only    map[string]bool // the files that are looked at, nil for all
	split   *Splitter
	at      map[string]*place
	order   []string
	open    *os.File
	written int
}

// place is how far a file has been told.
type place struct {
	lines int
	bytes int64
	size  int64 // of the file
	dirty bool  // since the last Sync
}

// Differs says that a file is not what the stream says.
type Differs struct {
	File string
	Line int
	Want []byte // the line of the stream; nil where the file goes on behind it
	Got  []byte // what stands there; nil where the file ends before it
}

// Error says where.
func (d *Differs) Error() string {
	switch {
	case d.Want == nil:
		return fmt.Sprintf("%s goes on at line %d, behind the end of the conversation", d.File, d.Line)
	case d.Got == nil:
		return fmt.Sprintf("%s ends before line %d", d.File, d.Line)
	}
	return fmt.Sprintf("%s differs at line %d", d.File, d.Line)
}

// OpenFolder writes into a directory, which is made if need be. session is that of NewSplitter.
func OpenFolder(dir, session string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return newFolder(dir, session), nil
}

// CheckFolder writes nothing: a line that is not there is *Differs.
func CheckFolder(dir, session string) *Folder {
	f := newFolder(dir, session)
	f.check = true
	return f
}

// Only has files of these names looked at alone.
func (f *Folder) Only(names ...string) {
	f.only = map[string]bool{}
	for _, name := range names {
		f.only[name] = true
	}
}

func newFolder(dir, session string) *Folder {
	return &Folder{dir: dir, split: NewSplitter(session), at: map[string]*place{}}
}

// Add tells the next message of the stream. The line is in its file when Add returns, though a power failure may still take it. Errors are *Differs,
// and those of the file system.
func (f *Folder) Add(m omni.Message) error {
	record, ok := f.split.Add(m)
	if !ok || f.only != nil && !f.only[record.File] {
		return nil
	}
	at, err := f.file(record.File)
	if err != nil {
		return err
	}
	line := record.Message.Line()
	stands, err := f.stands(record.File, at, line)
	if err == nil && !stands {
		err = f.append(record.File, at, line)
	}
	if err != nil {
		return err
	}
	at.lines++
	at.bytes += int64(len(line))
	return nil
}

// file turns to a file, which need not be there yet, and says how far it has been told.
func (f *Folder) file(name string) (*place, error) {
	path := filepath.Join(f.dir, name)
	at := f.at[name]
	if at != nil && f.open != nil && f.open.Name() == path {
		return at, nil
	}
	f.leave()
	flag := os.O_RDWR | os.O_CREATE
	if f.check {
		flag = os.O_RDONLY
	}
	file, err := os.OpenFile(path, flag, 0o600) //nolint:gosec // the directory is the caller's, the name is fileSafe
	if f.check && errors.Is(err, os.ErrNotExist) {
		return f.known(name, at, 0), nil
	}
	if err != nil {
		return nil, err
	}
	f.open = file
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return f.known(name, at, info.Size()), nil
}

func (f *Folder) known(name string, at *place, size int64) *place {
	if at == nil {
		at = &place{size: size}
		f.at[name] = at
		f.order = append(f.order, name)
	}
	return at
}

func (f *Folder) leave() {
	if f.open != nil {
		_ = f.open.Close() //nolint:errcheck // each write has been checked
		f.open = nil
	}
}

// stands says whether the line is what the file has at this place; false where the file ends within it.
func (f *Folder) stands(name string, at *place, line []byte) (bool, error) {
	rest := at.size - at.bytes
	if rest <= 0 {
		return false, f.short(name, at, line)
	}
	there := make([]byte, min(rest, int64(len(line))))
	if _, err := f.open.ReadAt(there, at.bytes); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	switch {
	case bytes.Equal(there, line):
		return true, nil
	case bytes.HasPrefix(line, there): // its writer was stopped: what is there of it goes with what is written
		return false, f.short(name, at, line)
	}
	got, err := f.lineAt(at.bytes)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return false, &Differs{File: name, Line: at.lines + 1, Want: bytes.TrimSuffix(line, []byte("\n")), Got: got}
}

func (f *Folder) short(name string, at *place, line []byte) error {
	if !f.check {
		return nil
	}
	return &Differs{File: name, Line: at.lines + 1, Want: bytes.TrimSuffix(line, []byte("\n"))}
}

// lineAt is the line that begins at an offset, as far as a message goes.
func (f *Folder) lineAt(offset int64) ([]byte, error) {
	there, err := io.ReadAll(io.NewSectionReader(f.open, offset, omni.MaxBytes))
	line, _, _ := bytes.Cut(there, []byte("\n"))
	return line, err
}

// append writes a line at the end of what has been told, with one write. What is left there of a line that was cut off is a beginning of it.
func (f *Folder) append(name string, at *place, line []byte) error {
	if _, err := f.open.WriteAt(line, at.bytes); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	at.size, at.dirty = at.bytes+int64(len(line)), true
	f.written++
	return nil
}

// Written is how many lines were appended: not those that stood there already.
func (f *Folder) Written() int { return f.written }

// Files are the names of the traces so far, in the order in which they began.
func (f *Folder) Files() []string { return slices.Clone(f.order) }

// Lines is how many lines a trace has.
func (f *Folder) Lines(name string) int {
	if f.at[name] == nil {
		return 0
	}
	return f.at[name].lines
}

// Finish says that the stream has been told to its end: *Differs for a file that goes on behind it. A later Add goes on.
func (f *Folder) Finish() error {
	for _, name := range f.order {
		at := f.at[name]
		if at.size <= at.bytes {
			continue
		}
		if _, err := f.file(name); err != nil {
			return err
		}
		got, err := f.lineAt(at.bytes)
		if err != nil {
			return err
		}
		return &Differs{File: name, Line: at.lines + 1, Got: got}
	}
	return nil
}

// Sync waits until what was written is on disk.
func (f *Folder) Sync() error {
	for _, name := range f.order {
		if !f.at[name].dirty {
			continue
		}
		if err := f.sync(name); err != nil {
			return err
		}
		f.at[name].dirty = false
	}
	return nil
}

// Close lets go of the files. It does not wait for the disk.
func (f *Folder) Close() { f.leave() }

func (f *Folder) sync(name string) error {
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_WRONLY, 0) //nolint:gosec // as above
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
