package localapi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// addressFile says where the edge of a home listens: with port 0, or a port that was taken, its configuration does not.
const addressFile = "local.addr"

// NoteAddress leaves the address for programs that know the edge's home.
func NoteAddress(home, addr string) error {
	path := filepath.Join(home, addressFile)
	if err := os.WriteFile(path+".new", []byte(addr+"\n"), 0o600); err != nil {
		return fmt.Errorf("note local address: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("note local address: %w", err)
	}
	return nil
}

// Address is where the edge of home listened last, or otherwise if none ever did.
func Address(home, otherwise string) (string, error) {
	text, err := os.ReadFile(filepath.Join(home, addressFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return otherwise, nil
	case err != nil:
		return "", fmt.Errorf("read local address: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
