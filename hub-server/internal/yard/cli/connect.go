package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/lookup"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

// hub is the hub that this home is logged in to. Its REST calls go out as the login itself, so they need no device of their own.
type hub struct {
	*client.Client
	find  lookup.Finder
	login home.Login
	home  home.Home
}

// connect returns the hub of the login. Nothing is sent yet.
func (s *session) connect() (*hub, error) {
	h, err := s.home()
	if err != nil {
		return nil, err
	}
	login, err := h.Login()
	if err != nil {
		return nil, err
	}
	c, err := s.client(login.Hub, login.Keeper)
	if err != nil {
		return nil, err
	}
	return &hub{Client: c, find: lookup.New(c.API()), login: login, home: h}, nil
}

func (s *session) client(address string, keeper client.Keeper) (*client.Client, error) {
	return client.New(client.Options{Hub: address, Keeper: keeper, UserAgent: "yard/" + s.Version})
}

// with runs fn with the hub of the login and names the hub in its error.
func (s *session) with(fn func(*hub) error) error {
	h, err := s.connect()
	if err != nil {
		return err
	}
	if err := fn(h); err != nil {
		return &at{h.login.Hub, err}
	}
	return nil
}

// line is a connection as a device of its own.
type line struct {
	*hub
	device *home.Device
	as     *client.Client // speaks as the device
}

// withDevice runs fn as the device that --device names, or the next free one of that name.
func (s *session) withDevice(fn func(*line) error) error {
	return s.with(func(h *hub) error {
		device, err := h.home.Acquire(s.ctx, s.device, h.login, h.register)
		if err != nil {
			return err
		}
		defer device.Release() //nolint:errcheck // the process's end releases it too
		c, err := s.client(h.login.Hub, device.Keeper())
		if err != nil {
			return err
		}
		err = fn(&line{hub: h, device: device, as: c})
		if errors.Is(err, client.ErrLoggedOut) {
			return errors.Join(fmt.Errorf("the hub has logged the device %s out; the next command registers it anew", device.Name),
				h.home.ForgetDevice(device.Name))
		}
		return err
	})
}

func (h *hub) register(ctx context.Context, name string) (client.Credentials, error) {
	tokens, err := client.Decode[client.Tokens](h.API().RegisterDevice(ctx, &client.RegisterDeviceParams{IdempotencyKey: talk.Key()},
		client.DeviceInput{Type: client.DeviceTypeCli, Name: name + "@" + hostname()}))
	if err != nil {
		return client.Credentials{}, err
	}
	return client.CredentialsOf(tokens), nil
}
