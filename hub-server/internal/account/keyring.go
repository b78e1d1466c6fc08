package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/shared/durable"
)

const (
	keyPoll     = 10 * time.Second // how long a rotation by another process may go unnoticed
	keyReadRest = time.Second      // at most one read of the file in this time for tokens with an unknown kid
)

// Keyring holds the keys of HUB_KEYS_FILE and follows its rotations. It is safe for concurrent use.
type Keyring struct {
	// InUse, if not nil, is told by Run which key signs, at its start and after each rotation, until it returns nil.
	InUse func(context.Context, KeyID) error

	path string
	log  *slog.Logger
	keys atomic.Pointer[Keys]

	mu       sync.Mutex // guards lastRead
	lastRead time.Time
}

// OpenKeyring reads the key file, or makes it when there is none. It refuses a file that others can read and weak secrets.
func OpenKeyring(path string, log *slog.Logger) (*Keyring, error) {
	err := createKeyFile(path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	k := &Keyring{path: path, log: log}
	if err := k.read(); err != nil {
		return nil, err
	}
	return k, nil
}

// Seal encrypts what the store keeps and must not know; only Unseal with the same context opens it.
func (k *Keyring) Seal(data []byte, context string) ([]byte, error) {
	return seal(k.Current().Answers, data, []byte(context))
}

// Unseal opens what Seal has made on any hub with these keys.
func (k *Keyring) Unseal(sealed []byte, context string) ([]byte, error) {
	return open(k.Current().Answers, sealed, []byte(context))
}

// Current returns the keys as last read.
func (k *Keyring) Current() Keys { return *k.keys.Load() }

// Accepting returns the token key with that kid. One that is unknown makes the ring look at the file, because another hub of
// the store may have rotated and signed with it already.
func (k *Keyring) Accepting(kid KeyID) (Secret, bool) {
	if secret, ok := k.Current().Tokens[kid]; ok {
		return secret, true
	}
	if !k.mayRead() {
		return nil, false
	}
	if err := k.read(); err != nil {
		k.log.Error("key file cannot be read again", "error", err)
	}
	secret, ok := k.Current().Tokens[kid]
	return secret, ok
}

// Run follows the file until ctx ends, so that this hub begins to sign with the new key after a rotation.
func (k *Keyring) Run(ctx context.Context) error {
	tick := time.NewTicker(keyPoll)
	defer tick.Stop()
	var told KeyID
	for {
		told = k.tell(ctx, told)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := k.read(); err != nil {
				k.log.Error("key file cannot be read again", "error", err)
			}
		}
	}
}

// tell says which key signs, unless that was told, and returns what was told last.
func (k *Keyring) tell(ctx context.Context, told KeyID) KeyID {
	signing := k.Current().Signing
	if k.InUse == nil || signing == told {
		return signing
	}
	if err := k.InUse(ctx, signing); err != nil {
		if ctx.Err() == nil {
			k.log.Error("key in use cannot be recorded", "error", err)
		}
		return told
	}
	return signing
}

func (k *Keyring) mayRead() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if now.Sub(k.lastRead) < keyReadRest {
		return false
	}
	k.lastRead = now
	return true
}

func (k *Keyring) read() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return fmt.Errorf("key file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("key file %s: others can read it; run chmod 600 on it", k.path)
	}
	keys, err := ReadKeyFile(k.path)
	if err != nil {
		return err
	}
	k.keys.Store(&keys)
	return nil
}

// RotateKeyFile puts a new signing key into the file; hubs that run follow by themselves. Tokens of the key before it stay good,
// so rotate at most once per lifetime of an access token.
func RotateKeyFile(path string) error {
	keys, err := ReadKeyFile(path)
	if err != nil {
		return err
	}
	if err := writeKeyFile(path, keys.Rotated()); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return nil
}

// ReadKeyFile reads a key file that must be there.
func ReadKeyFile(path string) (Keys, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Keys{}, fmt.Errorf("read key file: %w", err)
	}
	keys, err := decodeKeys(data)
	if err != nil {
		return Keys{}, fmt.Errorf("key file %s: %w", path, err)
	}
	return keys, nil
}

// createKeyFile makes the file with fresh keys; fs.ErrExist when there is one, also if another first start has just won.
func createKeyFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	data, err := NewKeys().encode()
	if err != nil {
		return err
	}
	return durable.Create(path, data)
}

func writeKeyFile(path string, keys Keys) error {
	data, err := keys.encode()
	if err != nil {
		return err
	}
	return durable.Replace(path, data)
}
