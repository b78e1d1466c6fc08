package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type logoutCmd struct {
	Everywhere bool `help:"End all your logins, on every machine, phone and browser. This needs the hub."`
}

// Help is shown below the usage.
func (logoutCmd) Help() string {
	return `Logs out all devices of this machine. To end the login of one other device: yard device revoke.

Examples:
  yard logout --everywhere`
}

// Run logs out everything that this home is logged in as, and what else there is if that is wanted.
func (c logoutCmd) Run(s *session) error {
	h, err := s.home()
	if err != nil {
		return err
	}
	if _, err := h.Login(); err != nil {
		return err
	}
	said, leave := "logged out", s.leave
	if c.Everywhere {
		said, leave = "logged out everywhere", s.leaveEverywhere
	}
	if err := leave(h); err != nil {
		return err
	}
	return s.print(struct {
		LoggedOut  bool `json:"logged_out"`
		Everywhere bool `json:"everywhere,omitempty"`
	}{true, c.Everywhere}, func() error { return s.say("%s", said) })
}

// leaveEverywhere ends all logins of the account, or fails: whoever has lost a device has to know.
func (s *session) leaveEverywhere(h home.Home) error {
	return s.with(func(hub *hub) error {
		if _, err := client.Decode[client.Nothing](hub.API().LogoutEverywhere(s.ctx)); err != nil {
			return err
		}
		return h.Forget()
	})
}

// leave ends the logins of a home on its hub as far as it can be reached, and forgets them.
func (s *session) leave(h home.Home) error {
	login, err := h.Login()
	if errors.Is(err, client.ErrLoggedOut) {
		return h.Forget()
	}
	if err != nil {
		return err
	}
	names, err := h.Devices()
	if err != nil {
		return err
	}
	keepers := []client.Keeper{login.Keeper}
	for _, name := range names {
		keepers = append(keepers, h.DeviceKeeper(name))
	}
	for _, keeper := range keepers {
		if err := s.logout(login.Hub, keeper); err != nil {
			fmt.Fprintln(s.Err, "yard: the hub could not be told:", screen.Clean(err.Error()))
			break
		}
	}
	return h.Forget()
}

func (s *session) logout(hub string, keeper client.Keeper) error {
	c, err := s.client(hub, keeper)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, logoutWithin)
	defer cancel()
	_, err = client.Decode[client.Nothing](c.API().Logout(ctx))
	if errors.Is(err, client.ErrLoggedOut) {
		return nil
	}
	return err
}
