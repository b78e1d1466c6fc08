package localapi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/durable"
)

// addressFile says where the edge of a home listens: with port 0, or a port that was taken, its configuration does not.
const addressFile = "local.addr"

// NoteAddress leaves the address for programs that know the edge's home.
func NoteAddress(home, addr string) error {
	if err := durable.Replace(filepath.Join(home, addressFile), []byte(addr+"\n")); err != nil {
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
