package cli

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type pushCmd struct {
	Add    pushAddCmd    `cmd:"" help:"Push what waits to an ntfy topic."`
	List   pushListCmd   `cmd:"" help:"List which of my devices are pushed to."`
	Remove pushRemoveCmd `cmd:"" help:"Push nothing for this machine any more."`
	Test   pushTestCmd   `cmd:"" help:"Push something now, and say what became of it."`
}

type pushAddCmd struct {
	URL   string `arg:"" name:"url" help:"The topic, such as https://ntfy.sh/NAME. Who knows the name can read what is pushed: choose one that nobody guesses."`
	Token bool   `help:"Ask for an access token of the ntfy server."`
	Text  bool   `help:"Push names and the beginning of what was said. The ntfy server can read that."`
}

// Help is shown below the usage.
func (pushAddCmd) Help() string {
	return `Subscribe to the topic in the ntfy app of a phone. This machine has one topic: a second one takes the place of the first.

Examples:
  yard push add https://ntfy.sh/ada-7Qx2mW9t
  yard push add --token https://ntfy.example.org/ada <token.txt`
}

// Run registers the topic for the login of this machine.
func (c pushAddCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		in := client.PushInput{Channel: client.PushChannelNtfy, URL: c.URL, ShowText: c.Text}
		if c.Token {
			var err error
			if in.Token, err = newAsker(s).secret("token: "); err != nil {
				return err
			}
		}
		made, err := client.Decode[client.PushRegistration](h.API().RegisterPush(s.ctx, in))
		if err != nil {
			return err
		}
		return s.print(made, func() error { return s.say("what waits is pushed to a topic at %s; try it: yard push test", made.Host) })
	})
}

type pushListCmd struct{}

// Run lists the registrations of all devices.
func (pushListCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := client.Decode[client.PushOverview](h.API().GetPush(s.ctx))
		if err != nil {
			return err
		}
		now := time.Now()
		return table(s, found.Items, "nothing is pushed to any device", []string{"device", "channel", "host", "text", "since"},
			func(r client.PushRegistration) []string {
				text := "no"
				if r.ShowText {
					text = "yes"
				}
				return []string{r.DeviceID, string(r.Channel), r.Host, text, screen.Ago(now, r.CreatedAt)}
			})
	})
}

type pushRemoveCmd struct{}

// Run ends the registration of this machine's login.
func (pushRemoveCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		if _, err := client.Decode[client.Nothing](h.API().UnregisterPush(s.ctx)); err != nil {
			return err
		}
		return s.print(struct {
			Removed bool `json:"removed"`
		}{true}, func() error { return s.say("nothing is pushed for this machine") })
	})
}

type pushTestCmd struct{}

// Run pushes something, and fails if it was not taken.
func (pushTestCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		result, err := client.Decode[client.PushTest](h.API().TestPush(s.ctx))
		if err != nil {
			return err
		}
		if !result.Sent {
			return fmt.Errorf("not sent: %s", reason(result))
		}
		return s.print(result, func() error { return s.say("sent: the service took it") })
	})
}

// reason says why a push was not taken.
func reason(r client.PushTest) string {
	if r.HTTPStatus == 0 {
		return r.Code
	}
	return fmt.Sprintf("%s (the service answered %d)", r.Code, r.HTTPStatus)
}
