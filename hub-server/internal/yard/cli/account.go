package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

type loginCmd struct {
	Hub        string `placeholder:"URL" help:"Address of the hub (default: the one of the last login)."`
	User       string `short:"u" placeholder:"NAME" help:"User name (default: asked for)."`
	Invitation string `placeholder:"TOKEN" help:"Make the user from an invitation."`
	Bootstrap  string `placeholder:"FILE" type:"existingfile" help:"Make the hub's first user with the token in this file, HUB_HOME/bootstrap.token."`
}

// Help is shown below the usage.
func (loginCmd) Help() string {
	return `The password is asked for, or read as one line from standard input when that is no terminal. What is kept are tokens, never the password.

Examples:
  yard login --hub http://127.0.0.1:8080 --user ada
  yard login --hub https://hub.example --user ada --invitation TOKEN`
}

// Run logs in and keeps the login.
func (c loginCmd) Run(s *session) error {
	h, err := s.home()
	if err != nil {
		return err
	}
	if c.Hub == "" {
		last, err := h.Login()
		if err != nil {
			return misused("say which hub: yard login --hub URL")
		}
		c.Hub = last.Hub
	}
	asker := newAsker(s)
	if c.User == "" {
		if c.User, err = asker.ask("user name: "); err != nil {
			return err
		}
	}
	password, err := asker.secret("password: ")
	if err != nil {
		return err
	}
	tokens, err := c.enter(s, password)
	if err != nil {
		return &at{c.Hub, err}
	}
	if err := s.leave(h); err != nil {
		return err
	}
	if err := h.SaveLogin(s.ctx, c.Hub, client.CredentialsOf(tokens)); err != nil {
		return err
	}
	return s.print(client.Me{User: tokens.User, Device: tokens.Device}, func() error {
		return s.say("logged in to %s as %s", c.Hub, tokens.User.Username)
	})
}

func (c loginCmd) enter(s *session, password string) (client.Tokens, error) {
	api, err := client.Anonymous(client.Options{Hub: c.Hub, UserAgent: "yard/" + s.Version})
	if err != nil {
		return client.Tokens{}, err
	}
	device := client.DeviceInput{Type: client.DeviceTypeCli, Name: "yard@" + hostname()}
	switch {
	case c.Invitation != "":
		return client.Decode[client.Tokens](api.RegisterUser(s.ctx, client.RegisterInput{Token: c.Invitation, Username: c.User, Password: password, Device: device}))
	case c.Bootstrap != "":
		token, err := os.ReadFile(c.Bootstrap)
		if err != nil {
			return client.Tokens{}, fmt.Errorf("read the token of the first user: %w", err)
		}
		return client.Decode[client.Tokens](api.BootstrapUser(s.ctx, client.BootstrapInput{
			Token: strings.TrimSpace(string(token)), Username: c.User, Password: password, Device: device,
		}))
	}
	return client.Decode[client.Tokens](api.Login(s.ctx, client.LoginInput{Username: c.User, Password: password, Device: device}))
}

// asker asks the person, or reads lines from standard input when nobody sits there.
type asker struct {
	s  *session
	in *bufio.Reader
}

func newAsker(s *session) *asker { return &asker{s: s, in: bufio.NewReader(s.In)} }

func (a *asker) ask(what string) (string, error) {
	if screen.IsTerminal(a.s.In) {
		fmt.Fprint(a.s.Err, what)
	}
	text, err := a.in.ReadString('\n')
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		return "", misused("no %sgiven", strings.TrimSuffix(what, ": ")+" ")
	}
	return strings.TrimRight(text, "\r\n"), nil
}

// secret asks without showing what is typed.
func (a *asker) secret(what string) (string, error) {
	if !screen.IsTerminal(a.s.In) {
		return a.ask(what)
	}
	fmt.Fprint(a.s.Err, what)
	typed, _, err := screen.ReadSecret(a.s.In)
	fmt.Fprintln(a.s.Err)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return typed, nil
}

type inviteCmd struct{}

// Run makes an invitation.
func (inviteCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		made, err := client.Decode[client.Invitation](h.API().CreateInvitation(s.ctx, &client.CreateInvitationParams{IdempotencyKey: talk.Key()}))
		if err != nil {
			return err
		}
		return s.print(made, func() error {
			return s.say("good for one person until %s:\n\n  yard login --hub %s --user NAME --invitation %s",
				made.ExpiresAt.Local().Format("2006-01-02 15:04"), h.Hub(), made.Token)
		})
	})
}
