package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

const maxText = 64 << 10 // bytes; what the contract takes as a prompt

type sendCmd struct {
	Session string   `required:"true" placeholder:"NAME" help:"The conversation: its name, or the beginning of its id. It is made if nobody has one of that name."`
	Wait    bool     `default:"true" negatable:"" help:"Follow the run that the message starts until it ends, with an exit code that says how (default)."`
	Plain   bool     `help:"Take the text as it is: an @ means nobody."`
	Mention []string `sep:"none" placeholder:"NAME" help:"Mention an agent, or a person of the conversation, whom the text does not name. May be repeated."`
	Attach  []string `sep:"none" placeholder:"URL" help:"Attach what is at this address, or a file of this machine. May be repeated."`
	Text    []string `arg:"" optional:"" help:"The message; - reads it from standard input."`
}

// Help is shown below the usage.
func (sendCmd) Help() string {
	return `A file of up to 48 kB goes along in the message, so that agents can read it; a larger one is uploaded for the people there.
Agents that are mentioned become members of the conversation and each get a run; people are notified. Ctrl-C stops the following, not the run.

Examples:
  yard send --session demo "@scout what changed here in the last 20 commits?"
  git diff | yard send --session review --no-wait -
  yard send --session demo --mention bob "the plan is done"
  yard send --session demo "@scout what is on it?" --attach screen.png --attach https://example.com/plan.pdf`
}

// Run sends, and follows unless told not to.
func (c sendCmd) Run(s *session) error {
	text, err := typed(c.Text, s.In)
	if err != nil {
		return err
	}
	attached, err := talk.Attach(c.Attach)
	if err != nil {
		return &misuse{err}
	}
	return s.withDevice(func(l *line) error {
		if err := talk.Upload(s.ctx, l.as, attached); err != nil {
			return err
		}
		talker := talk.New(l.as.API())
		letter, err := talker.Prepare(s.ctx, c.Session, text, attached, c.Plain)
		if errors.Is(err, talk.ErrNobody) {
			return fmt.Errorf("%w (--plain sends the text as it is)", err)
		}
		if err == nil {
			err = talker.Mention(s.ctx, &letter, c.Mention...)
		}
		if err != nil {
			return err
		}
		if c.Wait && len(letter.Agents) > 0 {
			return s.follow(l, letter, func(ctx context.Context, letter *talk.Letter) (client.MessageReceipt, any, error) {
				receipt, err := talker.Deliver(ctx, letter)
				return receipt, receipt, err
			})
		}
		receipt, err := talker.Deliver(s.ctx, &letter)
		if err != nil {
			return err
		}
		return s.print(receipt, func() error { return s.sent(letter, receipt) })
	})
}

func (s *session) sent(letter talk.Letter, receipt client.MessageReceipt) error {
	if len(receipt.TaskIds) == 0 {
		return s.say("sent to %s%s", letter.Session.Name, unasked(letter.Session.Members))
	}
	return s.say("sent to %s; %s; `yard watch` follows", letter.Session.Name, strings.Join(receipt.TaskIds, " "))
}

// unasked tells whoever has forgotten to address an agent how to.
func unasked(members []client.SessionMember) string {
	for _, m := range members {
		if m.MemberType == client.MemberTypeAgent {
			return fmt.Sprintf("; no agent is asked, `@%s …` would ask one", m.Name)
		}
	}
	return ""
}

// typed is a text as it was typed, or as it comes on standard input.
func typed(words []string, in io.Reader) (string, error) {
	if len(words) != 1 || words[0] != "-" {
		return strings.Join(words, " "), nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return "", fmt.Errorf("read the message from standard input: %w", err)
	}
	if len(data) > maxText {
		return "", misused("the message is larger than %d KiB; put it into a file that the agent can read", maxText>>10)
	}
	return string(data), nil
}
