package board

import (
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

const quoted = 80 // runes of what a message replies to

// laid are the lines that something takes at a width.
type laid struct {
	lines []line
	width int
	stamp int
}

// item is what stands in a conversation: a message or a run.
type item struct {
	message *message
	run     *run
}

func (i item) key() string {
	if i.message != nil {
		return i.message.ID
	}
	return i.run.id
}

func (i item) laid() *laid {
	if i.message != nil {
		return &i.message.laid
	}
	return &i.run.laid
}

// items are in the order in which they are shown: a run behind the message that it came from.
func (r *room) items() []item {
	all := make([]item, 0, len(r.messages)+len(r.runs))
	runs := slices.Clone(r.runs)
	slices.SortStableFunc(runs, func(x, y *run) int { return int(x.after - y.after) })
	take := func(until client.SeqID, all []item) []item {
		for len(runs) > 0 && runs[0].after < until {
			if runs[0].shown() {
				all = append(all, item{run: runs[0]})
			}
			runs = runs[1:]
		}
		return all
	}
	for i, m := range r.messages {
		if i > 0 || r.whole {
			all = take(m.SeqID, all)
		}
		all = append(all, item{message: m})
	}
	if !r.detached {
		all = take(r.last+1, all)
	}
	return all
}

// lay returns the lines of an item.
func (b *Board) lay(r *room, i item, width int) []line {
	kept := i.laid()
	if kept.width != width || kept.stamp != b.stamp || kept.lines == nil {
		*kept = laid{width: width, stamp: b.stamp}
		if i.message != nil {
			kept.lines = b.messageLines(r, i.message, width)
		} else {
			kept.lines = b.runLines(i.run, width)
		}
	}
	return kept.lines
}

// messageLines draws a message.
func (b *Board) messageLines(r *room, m *message, width int) []line {
	style := b.options.Style
	head := line{{b.name(m.SenderID), style.Name}, {" " + b.clock(m.CreatedAt), style.Dim}, {marks(m), style.Dim}}
	all := []line{head}
	if m.ReplyToMessageID != "" {
		all = append(all, line{{"  ↳ " + b.quote(r, m.ReplyToMessageID), style.Dim}})
	}
	if m.Recalled {
		return append(all, line{{"  (taken back)", style.Dim}})
	}
	text := strings.TrimSpace(screen.TextOf(m.Content))
	if text != "" {
		all = append(all, wrapped(text, "  ", width)...)
	}
	for _, a := range m.Attachments {
		all = append(all, line{{"  [" + screen.Attachment(a) + "]", style.Dim}})
	}
	if text == "" && len(m.Attachments) == 0 {
		all = append(all, line{{"  (" + string(m.ContentType) + ")", style.Dim}})
	}
	if len(m.Reactions) > 0 {
		all = append(all, line{{text: "  "}, {reactions(m.Reactions), style.Yellow}})
	}
	return all
}

func marks(m *message) string {
	var all string
	if !m.EditedAt.IsZero() && !m.Recalled {
		all += " edited"
	}
	if !m.Pinned.PinnedAt.IsZero() {
		all += " pinned"
	}
	return all
}

func reactions(all []client.Reaction) string {
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = r.Reaction + " " + strconv.Itoa(r.Count)
	}
	return strings.Join(words, "  ")
}

// quote is a message in one line.
func (b *Board) quote(r *room, id client.MessageID) string {
	m := r.message(id)
	switch {
	case m == nil:
		return "an earlier message"
	case m.Recalled:
		return b.name(m.SenderID) + ": (taken back)"
	}
	return b.name(m.SenderID) + ": " + screen.Line(screen.TextOf(m.Content), quoted)
}
