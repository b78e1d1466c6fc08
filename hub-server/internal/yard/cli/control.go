package cli

import (
	"cmp"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

type modeCmd struct {
	Session string `arg:"" help:"The conversation: its name, or the beginning of its id."`
	Mode    string `arg:"" optional:"" enum:"allow-all,deny-all,read-only,always-ask,profile," default:"" help:"allow-all, deny-all, read-only (people are asked for more than looking), always-ask, or profile: as the agent's profile says."`
}

// Help is shown below the usage.
func (modeCmd) Help() string {
	return `Shows how permissions are answered that agents ask for in your runs of a conversation, and with a mode sets it, from the next call on, also for
what is at work; a permission that waits for an answer stays. It is yours alone; a machine whose profile denies everything still does.

Examples:
  yard mode demo
  yard mode demo read-only
  yard mode demo profile`
}

// Run shows or sets the approval mode.
func (c modeCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		var now client.OmniConversation
		if c.Mode == "" {
			now, err = client.Decode[client.OmniConversation](h.API().GetOmniSession(s.ctx, found.ID))
		} else {
			mode := strings.TrimSuffix(c.Mode, "profile")
			now, err = client.Decode[client.OmniConversation](h.API().UpdateOmniSession(s.ctx, found.ID, client.OmniSessionChange{ApprovalMode: &mode}))
		}
		if err != nil {
			return err
		}
		return s.print(now, func() error {
			return s.say("%s: %s", now.Title, cmp.Or(now.ApprovalMode, "as the agent's profile says"))
		})
	})
}

type steerCmd struct {
	Session string   `arg:"" help:"The conversation: its name, or the beginning of its id."`
	Text    []string `arg:"" optional:"" help:"What to say; - reads it from standard input."`
}

// Help is shown below the usage.
func (steerCmd) Help() string {
	return `The agent that is at work there hears it before its model's next request. What it has not taken when it ends was not delivered.

Examples:
  yard steer demo "leave the tests alone"`
}

// Run says something to the agent at work.
func (c steerCmd) Run(s *session) error {
	text, err := typed(c.Text, s.In)
	if err != nil {
		return err
	}
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		said, err := talk.New(h.API()).Steer(s.ctx, found.ID, text)
		if err != nil {
			return err
		}
		return s.print(said, func() error { return s.say("said; the agent takes it before its next request (%s)", said.SteerID) })
	})
}

type retryCmd struct {
	Session string `arg:"" help:"The conversation: its name, or the beginning of its id."`
}

// Run ends a wait.
func (c retryCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		got, err := client.Decode[client.OmniRetryReceipt](h.API().RetryOmniNow(s.ctx, found.ID))
		if err != nil {
			return err
		}
		return s.print(got, func() error {
			if got.Skipped {
				return s.say("it tries again now")
			}
			return s.say("no agent waits before it tries again")
		})
	})
}

type compactCmd struct {
	Session string `arg:"" help:"The conversation: its name, or the beginning of its id."`
}

// Help is shown below the usage.
func (compactCmd) Help() string {
	return `The agent at work there does it, or else the one that has worked last, in a run of its own.`
}

// Run has a context made smaller.
func (c compactCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		got, err := client.Decode[client.OmniCompactReceipt](h.API().CompactOmniSession(s.ctx, found.ID))
		if err != nil {
			return err
		}
		return s.print(got, func() error { return s.say("%s makes the context smaller", got.RunID) })
	})
}
