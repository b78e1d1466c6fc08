package cli

import (
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type searchCmd struct {
	Words   []string `arg:"" help:"What the message says: all of it, in any order."`
	Session string   `short:"s" help:"Only in this conversation: its name or id."`
	Limit   int      `short:"n" default:"20" help:"How many, the newest first (default: 20)."`
}

// Help is shown below the usage.
func (searchCmd) Help() string {
	return `Words are whole words, in upper or lower case. Of Chinese and the like one character suffices. A message is shown with its number, as in
demo:12, by which "yard message" knows it.

Examples:
  yard search exit code 137
  yard search --session demo 数据库`
}

// Run prints messages that say something.
func (c searchCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		var in client.SessionID
		if c.Session != "" {
			found, err := h.find.Session(s.ctx, c.Session)
			if err != nil {
				return err
			}
			in = found.ID
		}
		all := []client.Message{}
		for m, err := range h.Search(s.ctx, strings.Join(c.Words, " "), in) {
			if err != nil {
				return err
			}
			if all = append(all, m); len(all) >= c.Limit {
				break
			}
		}
		return s.print(list[client.Message]{all}, func() error { return c.show(s, h, all) })
	})
}

func (c searchCmd) show(s *session, h *hub, all []client.Message) error {
	if len(all) == 0 {
		return s.say("nothing found")
	}
	names := newBook(h.API())
	for _, m := range all {
		names.know(s.ctx, m)
		where, who := screen.Line(names.Session(m.SessionID), 40), screen.Line(names.Member(m.SenderID), 40)
		err := s.say("%s %s %s: %s", s.style.Dim(m.CreatedAt.Local().Format("2006-01-02 15:04")), s.style.Dim(where+":"+number(m.SeqID)), s.style.Name(who),
			screen.Excerpt(m, strings.Fields(strings.Join(c.Words, " "))))
		if err != nil {
			return err
		}
	}
	return nil
}
