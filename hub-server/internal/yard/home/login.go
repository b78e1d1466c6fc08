package home

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Login is the account that the home is logged in to.
type Login struct {
	Hub         string
	Credentials client.Credentials
	Keeper      client.Keeper
}

// Login returns the account, client.ErrLoggedOut if there is none.
func (h Home) Login() (Login, error) {
	v := vault{h.loginFile()}
	c, err := v.read()
	if err != nil {
		return Login{}, err
	}
	return Login{Hub: c.Hub, Credentials: c.Credentials, Keeper: v}, nil
}

// SaveLogin replaces the account. Devices of the one before are forgotten when they are next used.
func (h Home) SaveLogin(ctx context.Context, hub string, c client.Credentials) error {
	if err := h.prepare(); err != nil {
		return err
	}
	return vault{h.loginFile()}.change(ctx, func(contents, error) (contents, error) {
		return contents{Hub: hub, Credentials: c}, nil
	})
}

// MoveHub changes the address of the hub and keeps the login.
func (h Home) MoveHub(ctx context.Context, hub string) error {
	return vault{h.loginFile()}.change(ctx, func(c contents, err error) (contents, error) {
		c.Hub = hub
		return c, err
	})
}

// Forget removes the account and all devices. Connections that run go on until the hub ends them.
func (h Home) Forget() error {
	names, err := h.Devices()
	errs := []error{err}
	for _, name := range names {
		errs = append(errs, h.ForgetDevice(name))
	}
	return errors.Join(append(errs, vault{h.loginFile()}.remove())...)
}
