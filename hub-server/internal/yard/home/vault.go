package home

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/durable"
)

// forgetWithin bounds the waiting for another process that renews the same credentials.
const forgetWithin = 30 * time.Second

// contents is what a credentials file holds.
type contents struct {
	Hub         string             `json:"hub,omitempty"`   // in login.json: the hub's address
	Login       client.DeviceID    `json:"login,omitempty"` // in a device's file: the login that it was registered with
	Credentials client.Credentials `json:"credentials"`
}

// vault is one file of credentials. It is a client.Keeper whose updates exclude those of other processes.
type vault struct {
	path string
}

func (v vault) read() (contents, error) {
	var c contents
	data, err := os.ReadFile(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, client.ErrLoggedOut
	}
	if err != nil {
		return c, fmt.Errorf("read credentials: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("%s is damaged, log in again: %w", v.path, client.ErrLoggedOut)
	}
	return c, nil
}

func (v vault) write(c contents) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode credentials: %w", err)
	}
	if err := durable.Replace(v.path, append(data, '\n')); err != nil {
		return fmt.Errorf("keep credentials: %w", err)
	}
	return nil
}

// change replaces the contents while no other process can. fn gets client.ErrLoggedOut if there are none; its error changes nothing.
func (v vault) change(ctx context.Context, fn func(contents, error) (contents, error)) error {
	held, err := lock(ctx, v.path+".lock")
	if err != nil {
		return fmt.Errorf("keep credentials: %w", err)
	}
	defer held.Close() //nolint:errcheck // ends the lock
	before, err := v.read()
	if err != nil && !errors.Is(err, client.ErrLoggedOut) {
		return err
	}
	after, err := fn(before, err)
	if err != nil || after == before {
		return err
	}
	return v.write(after)
}

// Load returns the newest credentials.
func (v vault) Load() (client.Credentials, error) {
	c, err := v.read()
	return c.Credentials, err
}

// Update replaces the credentials; see client.Keeper.
func (v vault) Update(ctx context.Context, fn func(client.Credentials) (client.Credentials, error)) error {
	return v.change(ctx, func(c contents, err error) (contents, error) {
		if err != nil {
			return c, err
		}
		c.Credentials, err = fn(c.Credentials)
		return c, err
	})
}

// Forget removes the credentials when no process is renewing them; see client.Forgetter.
func (v vault) Forget() error {
	ctx, cancel := context.WithTimeout(context.Background(), forgetWithin)
	defer cancel()
	held, err := lock(ctx, v.path+".lock")
	if err != nil {
		return fmt.Errorf("forget credentials: %w", err)
	}
	defer held.Close() //nolint:errcheck // ends the lock
	return v.remove()
}

func (v vault) remove() error {
	if err := os.Remove(v.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget credentials: %w", err)
	}
	return nil
}
