package cli

import (
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

type forwardCmd struct {
	theMessage
	To []string `required:"true" sep:"none" placeholder:"NAME" help:"A conversation: its name, or the beginning of its id. May be repeated."`
}

// Help is shown below the usage.
func (forwardCmd) Help() string {
	return `The copies say who said it first, and when. Files go along. Nobody who is named in it is asked or told anything.

Examples:
  yard forward demo:12 --to plans --to home`
}

// Run forwards a message to all conversations, or to none.
func (c forwardCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		message, err := h.find.Message(s.ctx, c.Message)
		if err != nil {
			return err
		}
		var to []client.SessionID
		var names []string
		for _, ref := range c.To {
			found, err := h.find.Session(s.ctx, ref)
			if err != nil {
				return err
			}
			to, names = append(to, found.ID), append(names, found.Name)
		}
		receipt, err := talk.New(h.API()).Forward(s.ctx, message, to)
		if err != nil {
			return err
		}
		return s.print(receipt, func() error { return s.say("%s is forwarded to %s", c.Message, strings.Join(names, ", ")) })
	})
}
