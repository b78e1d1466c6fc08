// Package tui runs the full screen of the terminal client in a terminal: it is the shell around package board.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/board"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// kept is how much of the past the feed keeps: the board has what it shows itself.
var kept = client.Limits{Messages: 200, Runs: 200}

// Options are what Run needs.
type Options struct {
	Client *client.Client // speaks as a device of its own
	Me     client.UserID
	Style  screen.Style
	In     io.Reader
	Out    io.Writer
}

// Run shows the screen until the person quits or ctx ends, which are no errors, or until following is no use any more. The terminal is as before then.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := supervise.NewGroup(ctx)
	s := &shell{
		ctx: ctx, client: o.Client, hands: newHands(o.Client), now: time.Now,
		board: board.New(board.Options{Me: o.Me, Style: o.Style}),
	}
	program := tea.NewProgram(s, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	parts.Go(func(ctx context.Context) error { return follow(ctx, o.Client, program) })
	parts.Go(func(ctx context.Context) error {
		return s.hands.Run(ctx, func(o outcome) { program.Send(o) })
	})
	parts.Go(func(ctx context.Context) error {
		<-ctx.Done()
		program.Quit()
		return nil
	})
	_, err := program.Run()
	parts.Cancel()
	if err != nil {
		err = fmt.Errorf("full screen: %w", err)
	}
	return errors.Join(err, parts.Wait())
}

// follow hands the program what the feed tells, each only when it has taken the one before.
func follow(ctx context.Context, c *client.Client, program *tea.Program) error {
	// Messages from before this start are read page by page, where somebody looks.
	feed := c.Feed(client.KeptByCaller(""), client.FeedOptions{Since: time.Now(), Keep: kept})
	for u, err := range feed.Follow(ctx) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		program.Send(told{u, unread(feed.State(), u)})
	}
	return nil
}

// told is what the feed tells, with what is unread now in the conversations that it is about.
type told struct {
	client.Update
	unread map[client.SessionID]int64
}

// unread counts while the feed waits for its reader: its state belongs to it.
func unread(state *client.Reducer, u client.Update) map[client.SessionID]int64 {
	var about []client.SessionID
	switch {
	case u.Ready:
		for _, s := range state.Sessions() {
			about = append(about, s.SessionID)
		}
	case u.Frame != nil && u.New:
		if p, err := client.PayloadOf[struct {
			Session client.SessionID `json:"session_id"`
		}](*u.Frame); err == nil && p.Session != "" && u.Frame.Type != client.HubWebSocketFrameTypeAgentStream {
			about = append(about, p.Session)
		}
	}
	counts := map[client.SessionID]int64{}
	for _, s := range about {
		if n, known := state.Unread(s); known {
			counts[s] = n
		}
	}
	return counts
}
