package cli

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

type messagesCmd struct {
	Session string `arg:"" help:"The conversation: its name, or the beginning of its id."`
	Limit   int    `short:"n" default:"50" help:"How many, up to the newest (default: 50)."`
}

// Help is shown below the usage.
func (messagesCmd) Help() string {
	return "The number in front names a message: `yard message react demo:12 👍`."
}

// Run prints messages, the oldest first.
func (c messagesCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		all, err := c.read(s, h, found.ID)
		if err != nil {
			return err
		}
		return s.messages(h, found, all)
	})
}

type pinsCmd struct {
	Session string `arg:"" help:"The conversation: its name, or the beginning of its id."`
}

// Run prints what is pinned, the newest pin first.
func (c pinsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		pins, err := client.Decode[client.PinList](h.API().ListPins(s.ctx, found.ID))
		if err != nil {
			return err
		}
		if len(pins.Items) == 0 && !s.json {
			return s.say("nothing is pinned in %s", screen.Line(found.Name, nameWidth))
		}
		return s.messages(h, found, pins.Items)
	})
}

func (c messagesCmd) read(s *session, h *hub, id client.SessionID) ([]client.Message, error) {
	const page = 100
	all := []client.Message{}
	var before *int64
	for len(all) < c.Limit {
		limit := min(page, c.Limit-len(all))
		list, err := client.Decode[client.MessageList](h.API().ListMessages(s.ctx, id, &client.ListMessagesParams{BeforeSeq: before, Limit: &limit}))
		if err != nil {
			return nil, err
		}
		all = append(slices.Clone(list.Items), all...)
		if list.Next == 0 {
			break
		}
		before = &list.Next
	}
	return all, nil
}

const nameWidth = 40 // runes

// messages prints messages of one conversation.
func (s *session) messages(h *hub, in client.Session, all []client.Message) error {
	names := newBook(h.API())
	names.session(in)
	return s.print(list[client.Message]{all}, func() error {
		for _, m := range all {
			which, when := s.style.Dim(number(m.SeqID)), s.style.Dim(m.CreatedAt.Local().Format("2006-01-02 15:04"))
			who := s.style.Name(screen.Line(names.Member(m.SenderID), nameWidth))
			if err := s.say("%s %s %s: %s%s", which, when, who, text(m), s.style.Dim(marks(m))); err != nil {
				return err
			}
		}
		return nil
	})
}

func text(m client.Message) string {
	if m.Recalled {
		return "(taken back)"
	}
	if t := strings.TrimSpace(screen.Clean(screen.TextOf(m.Content))); t != "" {
		return t
	}
	if len(m.Attachments) > 0 {
		return "(" + number(int64(len(m.Attachments))) + " attached)"
	}
	return "(" + screen.Line(string(m.ContentType), nameWidth) + ")"
}

// marks are what became of a message: "" for nothing.
func marks(m client.Message) string {
	var all []string
	if !m.Forwarded.SentAt.IsZero() {
		all = append(all, "from "+screen.Line(m.Forwarded.SenderName, nameWidth))
	}
	if !m.EditedAt.IsZero() {
		all = append(all, "edited")
	}
	if !m.Pinned.PinnedAt.IsZero() {
		all = append(all, "pinned")
	}
	for _, r := range m.Reactions {
		all = append(all, screen.Line(r.Reaction, nameWidth)+" "+number(int64(r.Count)))
	}
	if len(all) == 0 {
		return ""
	}
	return "  [" + strings.Join(all, ", ") + "]"
}
