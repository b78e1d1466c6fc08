package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/board"
)

// attentive is how often at most the hub hears that somebody sits here. It forgets it after a minute.
const attentive = 30 * time.Second

// frame is how often at most the screen is drawn because of what the hub tells: a device that was away is told thousands of things at once.
const frame = 16 * time.Millisecond

// drawn says that a frame is over.
type drawn struct{}

// shell connects the board with the terminal: the library calls it from one goroutine.
type shell struct {
	ctx    context.Context // the library gives its commands none
	client *client.Client
	hands  *hands
	board  *board.Board
	now    func() time.Time
	told   time.Time // when the hub heard last that somebody sits here
	seen   tea.View  // as it was drawn last
	framed bool      // that was less than a frame ago
	held   bool      // what came since then is drawn with the next frame
}

// Init implements tea.Model.
func (s *shell) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s *shell) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s.held = false
	cmd := s.take(msg)
	return s, cmd
}

func (s *shell) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return s.do(s.board.Resize(msg.Width, msg.Height))
	case tea.KeyPressMsg:
		done := s.do(s.board.Key(msg.String(), msg.Text))
		return tea.Batch(done, s.attend(), s.typing())
	case tea.PasteMsg:
		return s.do(s.board.Paste(msg.Content))
	case tea.FocusMsg:
		return tea.Batch(s.do(s.board.Look(true)), s.attend())
	case tea.BlurMsg:
		return tea.Batch(s.do(s.board.Look(false)), s.inattend())
	case told:
		effects := s.board.Update(msg.Update)
		for session, n := range msg.unread {
			s.board.Unread(session, n)
		}
		return tea.Batch(s.do(effects), s.pace())
	case drawn:
		s.framed = false
	case outcome:
		return s.do(msg(s.board))
	}
	return nil
}

// pace holds the drawing until a frame is over.
func (s *shell) pace() tea.Cmd {
	if s.framed {
		s.held = true
		return nil
	}
	s.framed = true
	return tea.Tick(frame, func(time.Time) tea.Msg { return drawn{} })
}

// View implements tea.Model.
func (s *shell) View() tea.View {
	if s.held {
		return s.seen
	}
	now := s.board.View()
	s.seen = tea.NewView(now.String())
	s.seen.AltScreen, s.seen.ReportFocus = true, true
	if now.Cursor {
		s.seen.Cursor = tea.NewCursor(now.X, now.Y)
	}
	return s.seen
}

// do sees to what the board wants done: what changes something in order, what only reads at once.
func (s *shell) do(effects []board.Effect) tea.Cmd {
	var commands []tea.Cmd
	for _, e := range effects {
		switch e := e.(type) {
		case board.Quit:
			return tea.Quit
		case board.List:
			commands = append(commands, func() tea.Msg { return s.hands.list(s.ctx) })
		case board.Fetch:
			commands = append(commands, func() tea.Msg { return s.hands.fetch(s.ctx, e) })
		case board.Search:
			commands = append(commands, func() tea.Msg { return s.hands.search(s.ctx, e) })
		case board.MarkRead:
			commands = append(commands, func() tea.Msg { return s.hands.mark(s.ctx, e) })
		default:
			if !s.hands.take(e) {
				s.board.Say("too much waits for the hub; try again when it answers")
			}
		}
	}
	return tea.Batch(commands...)
}

// typing tells the others that this person types.
func (s *shell) typing() tea.Cmd {
	session, types := s.board.Typed()
	if !types {
		return nil
	}
	return func() tea.Msg {
		s.client.Typing(session) //nolint:errcheck // who is not connected is not seen to type
		return nil
	}
}

// attend tells the hub that somebody sits here, so that it pushes nothing to their phone.
func (s *shell) attend() tea.Cmd {
	if s.now().Sub(s.told) < attentive {
		return nil
	}
	s.told = s.now()
	return s.attention(true)
}

func (s *shell) inattend() tea.Cmd {
	s.told = time.Time{}
	return s.attention(false)
}

func (s *shell) attention(here bool) tea.Cmd {
	return func() tea.Msg {
		client.Decode[client.Nothing](s.client.API().PutAttention(s.ctx, client.AttentionInput{Foreground: here})) //nolint:errcheck // the next key tells it again
		return nil
	}
}
