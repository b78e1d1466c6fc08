package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cardtree"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// CardOptions are what Cards needs.
type CardOptions struct {
	Feed  *client.CardFeed // that nobody has followed yet
	Name  string           // of the conversation
	Style screen.Style
	In    io.Reader // nil: no keys
	Out   io.Writer
	size  [2]int // of a screen that is no terminal: columns, lines
}

// Cards shows the cards of a conversation until the person quits or ctx ends, which are no errors, or until following is no use any more. The newest
// of them are left on the terminal.
func Cards(ctx context.Context, o CardOptions) error {
	s := &cardShell{window: cardtree.NewWindow(o.Name, o.Style, time.Now)}
	settings := []tea.ProgramOption{tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler()}
	if o.size[0] > 0 {
		settings = append(settings, tea.WithWindowSize(o.size[0], o.size[1]))
	}
	program := tea.NewProgram(s, settings...)
	parts := supervise.NewGroup(ctx)
	parts.Go(func(ctx context.Context) error { return followCards(ctx, o.Feed, program) })
	parts.Go(func(ctx context.Context) error {
		keepTime(ctx, program)
		program.Quit()
		return nil
	})
	_, err := program.Run()
	parts.Cancel()
	if err != nil {
		err = fmt.Errorf("screen of cards: %w", err)
	}
	err = errors.Join(err, parts.Wait())
	for _, line := range s.window.Rest() {
		fmt.Fprintln(o.Out, line)
	}
	return err
}

// followCards hands the program what the feed tells.
func followCards(ctx context.Context, feed *client.CardFeed, program *tea.Program) error {
	for u, err := range feed.Follow(ctx) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		program.Send(u)
	}
	return nil
}

// keepTime tells the program that time goes on, until ctx ends.
func keepTime(ctx context.Context, program *tea.Program) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			program.Send(beaten{})
		}
	}
}

const (
	cardFrame = 50 * time.Millisecond // the cards are drawn no more often because of what the hub tells
	beat      = time.Second           // how often what is under way has lasted longer
)

// beaten says that a beat is over: what is drawn anew shows it.
type beaten struct{}

// cardShell connects a window of cards with the terminal: the library calls it from one goroutine.
type cardShell struct {
	window *cardtree.Window
	seen   string // as it was drawn last
	framed bool   // that was less than a frame ago
	held   bool   // what came since then is drawn with the next frame
}

// Init implements tea.Model.
func (s *cardShell) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s *cardShell) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s.held = false
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.window.Resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		if s.window.Key(msg.String()) {
			return s, tea.Quit
		}
	case client.CardUpdate:
		s.window.Update(msg)
		if s.framed {
			s.held = true
			return s, nil
		}
		s.framed = true
		return s, tea.Tick(cardFrame, func(time.Time) tea.Msg { return drawn{} })
	case drawn:
		s.framed = false
	}
	return s, nil
}

// View implements tea.Model.
func (s *cardShell) View() tea.View {
	if !s.held {
		s.seen = s.window.View()
	}
	v := tea.NewView(s.seen)
	v.AltScreen = true
	return v
}
