package cli

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

type againCmd struct {
	Wait bool   `default:"true" negatable:"" help:"Follow the new run until it ends, with an exit code that says how (default)."`
	Ref  string `arg:"" name:"run" help:"The run: the beginning of its id is enough. It must be over, and stays as it is."`
}

// Help is shown below the usage.
func (againCmd) Help() string {
	return `The agent gets the message of that run once more, in a new run. It remembers the conversation, its earlier answer too.`
}

// Run starts the new run, and follows it unless told not to.
func (c againCmd) Run(s *session) error {
	return s.withDevice(func(l *line) error {
		found, err := l.find.Run(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		talker := talk.New(l.as.API())
		if !c.Wait {
			receipt, err := talker.Regenerate(s.ctx, found.ID)
			if err != nil {
				return err
			}
			return s.print(receipt, func() error { return s.say("%s; `yard watch` follows", receipt.RunID) })
		}
		session, err := l.find.Session(s.ctx, found.SessionID)
		if err != nil {
			return err
		}
		agents, err := client.Decode[client.AgentList](l.as.API().ListAgents(s.ctx))
		if err != nil {
			return fmt.Errorf("find agents: %w", err)
		}
		return s.follow(l, talk.Letter{Session: session, Agents: agents.Items}, func(ctx context.Context, _ *talk.Letter) (client.MessageReceipt, any, error) {
			receipt, err := talker.Regenerate(ctx, found.ID)
			// What comes of it stands behind everything that is in the conversation now.
			follow := client.MessageReceipt{MessageID: receipt.MessageID, SeqID: session.LastSeq + 1, TaskIds: []client.RunID{receipt.RunID}}
			return follow, receipt, err
		})
	})
}
