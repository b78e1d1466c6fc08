package up

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/durable"
)

// account is the first user of the hub, as login.txt keeps it for the person.
type account struct{ user, password string }

// prepare makes what the servers need of each other: the first user, the login of yard, the edge's identity.
func (s *state) prepare(ctx context.Context) error {
	if err := s.logIn(ctx); err != nil {
		return err
	}
	if s.exists("edge", "edge.json") {
		return nil
	}
	return s.enrol(ctx)
}

// logIn makes sure that yard is logged in at the hub's present address.
func (s *state) logIn(ctx context.Context) error {
	login, err := s.home.Login()
	if err == nil {
		if login.Hub != s.hubURL {
			if err := s.home.MoveHub(ctx, s.hubURL); err != nil {
				return err
			}
		}
		if err = s.greet(ctx); err == nil {
			return nil
		}
	}
	if !errors.Is(err, client.ErrLoggedOut) {
		return fmt.Errorf("log in: %w", err)
	}
	tokens, err := s.enter(ctx)
	if err != nil {
		return err
	}
	return s.home.SaveLogin(ctx, s.hubURL, client.CredentialsOf(tokens))
}

// greet asks the hub whether the login still stands.
func (s *state) greet(ctx context.Context) error {
	hub, err := s.client()
	if err != nil {
		return err
	}
	_, err = client.Decode[client.Me](hub.API().GetMe(ctx))
	return err
}

func (s *state) client() (*client.Client, error) {
	login, err := s.home.Login()
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{Hub: s.hubURL, Keeper: login.Keeper, UserAgent: "yard/" + s.Version})
}

// enter makes the first user, or logs in as the one that an earlier start has made. The password is on disk before the hub knows it, so
// that a crash in between locks nobody out.
func (s *state) enter(ctx context.Context) (client.Tokens, error) {
	api, err := client.Anonymous(client.Options{Hub: s.hubURL, UserAgent: "yard/" + s.Version})
	if err != nil {
		return client.Tokens{}, err
	}
	token, err := os.ReadFile(s.dir("hub", "bootstrap.token"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return client.Tokens{}, fmt.Errorf("read the token of the first user: %w", err)
	}
	who, known := s.readAccount()
	if !known && len(token) > 0 {
		who = account{user: userName(), password: newPassword()}
		if err := s.writeAccount(who); err != nil {
			return client.Tokens{}, err
		}
	}
	device := client.DeviceInput{Type: client.DeviceTypeCli, Name: "yard up"}
	if len(token) > 0 {
		tokens, err := client.Decode[client.Tokens](api.BootstrapUser(ctx, client.BootstrapInput{
			Token: strings.TrimSpace(string(token)), Username: who.user, Password: who.password, Device: device,
		}))
		if client.CodeOf(err) != client.ProblemCodeBootstrapDone {
			s.fresh = &who
			return tokens, wrap(err, "make the first user")
		}
	}
	tokens, err := client.Decode[client.Tokens](api.Login(ctx, client.LoginInput{Username: who.user, Password: who.password, Device: device}))
	if code := client.CodeOf(err); code == client.ProblemCodeInvalidCredentials || code == client.ProblemCodeInvalidRequest {
		return tokens, fmt.Errorf("the hub has a user already, and %s does not hold the login; with the right one, while this hub runs: YARD_HOME=%s %s login --hub %s",
			s.short(s.dir("login.txt")), s.short(s.home.Dir()), s.Yard, s.hubURL)
	}
	return tokens, wrap(err, "log in")
}

func wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s *state) readAccount() (account, bool) {
	data, err := os.ReadFile(s.dir("login.txt"))
	if err != nil {
		return account{}, false
	}
	var who account
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "user":
			who.user = value
		case "password":
			who.password = value
		}
	}
	return who, who.user != "" && who.password != ""
}

func (s *state) writeAccount(who account) error {
	text := fmt.Sprintf("user: %s\npassword: %s\n", who.user, who.password)
	if err := durable.Replace(s.dir("login.txt"), []byte(text)); err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	return nil
}

// userName is what this person is called by the system, as far as a hub takes it.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "dev"
	}
	return sanitise(u.Username)
}

func sanitise(name string) string {
	const most = 64
	if _, after, ok := strings.Cut(name, `\`); ok { // domain\name
		name = after
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	name = strings.TrimLeft(name, "._-")
	if name == "" {
		return "dev"
	}
	return name[:min(len(name), most)]
}

// newPassword has 120 random bits in four groups that can be read aloud.
func newPassword() string {
	raw := make([]byte, 15)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	text := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))
	return strings.Join([]string{text[:6], text[6:12], text[12:18], text[18:]}, "-")
}
