package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/durable"
)

// ErrFolderInUse says that another process has the folder of a device open.
var ErrFolderInUse = errors.New("this device is in use by another process")

// placeBytes is what a place is written with: room for the longest cursor of the contract and a line end.
const placeBytes = 264

// Folder keeps one device in a folder of its own: its credentials and its place, for one process at a time. It is a Keeper that
// can forget, and a Position.
// Safe for concurrent use.
type Folder struct {
	dir    string
	memory *MemoryKeeper // what the file holds
	lock   *os.File
	place  *os.File
}

// OpenFolder opens a device's folder, made if it does not exist. ErrFolderInUse if another process has it open; systems without locks of
// files cannot tell. The caller closes it.
func OpenFolder(dir string) (*Folder, error) {
	if err := durable.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("open device folder: %w", err)
	}
	f := &Folder{dir: dir}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open device folder %s: %w", dir, err), f.Close())
	}
	return f, nil
}

func (f *Folder) open() (err error) {
	if f.lock, err = os.OpenFile(filepath.Join(f.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := lockFile(f.lock); err != nil {
		return err
	}
	if f.place, err = os.OpenFile(filepath.Join(f.dir, "cursor"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	var c Credentials
	data, err := os.ReadFile(f.credentials())
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	f.memory = NewMemoryKeeper(c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *Folder) credentials() string { return filepath.Join(f.dir, "credentials.json") }

// Close lets another process open the folder.
func (f *Folder) Close() error {
	var errs []error
	for _, file := range []*os.File{f.place, f.lock} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
}

// LogIn logs in and keeps the device, unless the folder has one already: then nothing is sent.
func (f *Folder) LogIn(ctx context.Context, opts Options, in LoginInput) error {
	if _, err := f.Load(); err == nil {
		return nil
	}
	c, err := LogIn(ctx, opts, in)
	if err != nil {
		return err
	}
	if err := f.SaveCursor(""); err != nil { // it was another device's
		return fmt.Errorf("keep login: %w", err)
	}
	if err := f.write(c); err != nil {
		return err
	}
	f.memory.replace(c)
	return nil
}

// Load returns the newest credentials, ErrLoggedOut if there are none.
func (f *Folder) Load() (Credentials, error) { return f.memory.Load() }

// Update replaces the credentials on disk, then in memory; see Keeper. Those that a hub does not take any more are forgotten, so that the next
// LogIn makes a new device.
func (f *Folder) Update(ctx context.Context, change func(Credentials) (Credentials, error)) error {
	err := f.memory.Update(ctx, func(c Credentials) (Credentials, error) {
		next, err := change(c)
		if err != nil || next == c {
			return next, err
		}
		return next, f.write(next)
	})
	if errors.Is(err, ErrLoggedOut) {
		return errors.Join(err, f.Forget())
	}
	return err
}

// Forget removes the device from the folder, as for a person who logs out and for a device that was kicked: the next LogIn makes a new one.
func (f *Folder) Forget() error {
	f.memory.turn <- struct{}{}
	defer func() { <-f.memory.turn }()
	f.memory.replace(Credentials{})
	if err := os.Remove(f.credentials()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget login: %w", err)
	}
	return nil
}

func (f *Folder) write(c Credentials) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("keep login: %w", err)
	}
	if err := durable.Replace(f.credentials(), append(data, '\n')); err != nil {
		return fmt.Errorf("keep login: %w", err)
	}
	return nil
}

// LoadCursor returns the device's place, "" if it has none.
func (f *Folder) LoadCursor() (string, error) {
	data := make([]byte, placeBytes)
	n, err := f.place.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	cursor, _, _ := strings.Cut(string(data[:n]), "\n")
	return cursor, nil
}

// SaveCursor replaces the device's place. It is called for every step, so it overwrites the file by one small write and does not sync: after a
// crash of the machine a few frames come again, or the hub answers with a reset.
func (f *Folder) SaveCursor(cursor string) error {
	_, err := f.place.WriteAt(fmt.Appendf(nil, "%-*s", placeBytes, cursor+"\n"), 0)
	return err
}
