package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// placeBytes is the least that a place is written with: room for the longest cursor of the contract and a line end.
const placeBytes = 264

// place is the file that keeps where a device stands. It is used by the one connection that holds the device.
type place struct {
	path string
	file *os.File // opened by the first save
}

// LoadCursor returns the device's place, "" if it has none.
func (p *place) LoadCursor() (string, error) {
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	cursor, _, _ := strings.Cut(string(data), "\n")
	return cursor, err
}

// SaveCursor replaces the device's place. It is called for every frame, so it overwrites the file by one small write instead of making a
// new one: a killed process leaves the old place or the new one, a crash of the machine at worst a place that the hub answers with a
// reset. It is not synced: an older place means a few repeated frames.
func (p *place) SaveCursor(cursor string) error {
	if p.file == nil {
		file, err := os.OpenFile(p.path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		p.file = file
	}
	_, err := p.file.WriteAt(fmt.Appendf(nil, "%-*s", placeBytes, cursor+"\n"), 0)
	return err
}

func (p *place) forget() error {
	if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (p *place) close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}
