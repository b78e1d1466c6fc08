package account

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/durable"
)

// BootstrapFile is where the token for the first user lies until it is used: readable by the hub's own user alone.
type BootstrapFile struct {
	path string
}

// NewBootstrapFile names the file; nothing is read or written yet.
func NewBootstrapFile(path string) *BootstrapFile { return &BootstrapFile{path: path} }

// ensure makes the token unless there is one from an earlier start.
func (b *BootstrapFile) ensure() error {
	err := durable.Create(b.path, []byte(NewToken(BootstrapToken)+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return b.ensureWhole()
	}
	if err != nil {
		return fmt.Errorf("make bootstrap token: %w", err)
	}
	return nil
}

// ensureWhole makes the token anew if a crash left half of one.
func (b *BootstrapFile) ensureWhole() error {
	if token, err := b.read(); err == nil && token.Is(BootstrapToken) {
		return nil
	}
	if err := b.remove(); err != nil {
		return err
	}
	return b.ensure()
}

func (b *BootstrapFile) read() (Token, error) {
	data, err := os.ReadFile(b.path)
	return Token(strings.TrimSpace(string(data))), err
}

// matches compares in constant time. Without a file nothing matches.
func (b *BootstrapFile) matches(token Token) bool {
	want, err := b.read()
	if err != nil || !want.Is(BootstrapToken) || !token.Is(BootstrapToken) {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(want), []byte(token)) == 1
}

func (b *BootstrapFile) remove() error {
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove bootstrap token: %w", err)
	}
	return nil
}
