package board

import (
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

const (
	around = 25 // messages behind one that was found, which are read with it
	below  = 3  // messages behind it that are on the screen
)

// hits are messages that were found, in place of a conversation.
type hits struct {
	words string
	all   []client.Message
	at    int
}

// search asks what to look for: in one conversation, or with "" in all.
func (b *Board) search(in client.SessionID) {
	label := "Search all conversations: "
	if in != "" {
		label = "Search here: "
	}
	b.field = &field{label: label, then: func(text string) []Effect {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return []Effect{Search{Session: in, Words: text}}
	}}
}

// Found takes what was found.
func (b *Board) Found(s Search, all []client.Message, err error) {
	switch {
	case err != nil:
		b.Fail("not searched", err)
	case len(all) == 0:
		b.Say("nothing says " + s.Words)
	default:
		b.hits, b.focus = &hits{words: s.Words, all: all}, onHits
	}
}

func (b *Board) hitKey(key string) []Effect {
	h := b.hits
	if h == nil {
		b.closeHits()
		return nil
	}
	switch key {
	case "up", "k":
		h.at = max(h.at-1, 0)
	case "down", "j":
		h.at = min(h.at+1, len(h.all)-1)
	case "enter":
		return b.jump(h.all[h.at])
	case "esc", "q":
		b.closeHits()
	}
	return nil
}

// closeHits goes back to where the search began.
func (b *Board) closeHits() {
	b.hits, b.focus = nil, onBody
	if b.current() == nil {
		b.focus = onList
	}
}

// jump shows a message where it was said.
func (b *Board) jump(m client.Message) []Effect {
	r := b.rooms[m.SessionID]
	if r == nil {
		b.Say("the conversation is not there any more")
		return nil
	}
	b.hits, b.focus = nil, onBody
	r.forget()
	r.loading, r.target = true, m.SeqID
	return append(b.enter(r.id), Fetch{Session: r.id, Before: m.SeqID + around})
}

// arrive puts the message that was jumped to on the screen, among those around it.
func (r *room) arrive(list client.MessageList) {
	i, there := r.find(r.target)
	r.target, r.loaded = 0, true
	if n := len(r.messages); n > 0 {
		r.detached = r.messages[n-1].SeqID < max(list.LastSeq, r.last)
	}
	if !there {
		return
	}
	r.selected = r.messages[i].ID
	if bottom := min(i+below, len(r.messages)-1); bottom < len(r.messages)-1 || r.detached {
		r.anchor = anchor{key: r.messages[bottom].ID}
	}
}

// hitScreen draws what was found.
func (b *Board) hitScreen(width, height int) Screen {
	style, h := b.options.Style, b.hits
	title := line{{" " + strconv.Itoa(len(h.all)) + " say “" + h.words + "”", style.Bold}}
	lines := []string{sides(title, append(line{{text: " "}}, b.linkLine()...), width).render(width)}
	const each = 2 // lines
	rows := max((height-1)/each, 1)
	begin := min(max(h.at-rows/2, 0), max(len(h.all)-rows, 0))
	for i, m := range h.all[begin:min(begin+rows, len(h.all))] {
		mark := span{text: " "}
		if begin+i == h.at {
			mark = span{"▌", style.Cyan}
		}
		where := b.name(m.SessionID)
		if r := b.rooms[m.SessionID]; r != nil {
			where = b.title(r)
		}
		lines = append(lines,
			line{mark, {where, style.Cyan}, {text: " "}, {b.name(m.SenderID), style.Name}, {" " + b.day(m.CreatedAt), style.Dim}}.render(width),
			line{mark, {text: "  " + screen.Excerpt(m, strings.Fields(h.words))}}.render(width))
	}
	return Screen{Lines: filled(lines, width, height)}
}
