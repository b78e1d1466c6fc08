package cli

import (
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

type watchCmd struct {
	Session string        `placeholder:"NAME" help:"Only this conversation: its name, or the beginning of its id."`
	Since   time.Duration `placeholder:"TIME" help:"Begin with the messages of the last while, such as 30m or 24h."`
	Once    bool          `help:"Show what has come since the last watch of this device, and end: for cron and scripts. Needs no live connection."`
}

// Help is shown below the usage.
func (watchCmd) Help() string {
	return `Shows messages, and of each run its reasoning, its tool calls, its words and its end. A lost connection is made again; what was missed
meanwhile follows in order, also in the next watch of the same device; one narrowed to a conversation does not count as seen. With --json each frame is one line, with the key by which it is applied.

Examples:
  yard watch
  yard watch --session demo --since 1h
  yard --device cron watch --once
  yard --device phone watch --json | jq -r .key`
}

// Run follows until Ctrl-C, or shows what there is.
func (c watchCmd) Run(s *session) error {
	return s.withDevice(func(l *line) error {
		options, at := client.FeedOptions{Begin: client.BeginLive}, client.Position(l.device)
		if c.Session != "" {
			found, err := l.find.Session(s.ctx, c.Session)
			if err != nil {
				return err
			}
			options.Session, at = found.ID, &glance{device: l.device}
		}
		if c.Since > 0 {
			options.Since = time.Now().Add(-c.Since)
		}
		v, feed := s.voice(l), l.as.Feed(at, options)
		updates := feed.Follow(s.ctx)
		if c.Once {
			v.quiet, updates = true, feed.Sync(s.ctx)
		}
		for u, err := range updates {
			if err == nil {
				err = v.update(u)
			}
			if s.ctx.Err() != nil {
				return v.close() // Ctrl-C is how one leaves
			}
			if err != nil {
				return errors.Join(err, v.close())
			}
		}
		return v.close()
	})
}
