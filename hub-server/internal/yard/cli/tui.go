package cli

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/tui"
)

type tuiCmd struct{}

// Help is shown below the usage.
func (tuiCmd) Help() string {
	return `Conversations at the left, what is said and done at the right; below 70 columns one of them at a time, with Tab and Esc between them. Agents are
answered where they ask. Works from 40 columns on, over SSH from a phone too, without a mouse and without colours. The key ? shows all keys.

Examples:
  yard tui
  yard --no-color tui`
}

// Run shows the full screen.
func (tuiCmd) Run(s *session) error {
	if !screen.IsTerminal(s.In) || !screen.IsTerminal(s.Out) {
		return misused("the full screen needs a terminal; `yard watch` follows without one, and `yard send`, `yard answer` do the rest")
	}
	return s.withDevice(func(l *line) error {
		return tui.Run(s.ctx, tui.Options{Client: l.as, Me: l.login.Credentials.UserID, Style: s.style, In: s.In, Out: s.Out})
	})
}
