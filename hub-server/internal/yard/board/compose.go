package board

import (
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// composeKey types a message.
func (b *Board) composeKey(key, text string) []Effect {
	r := b.current()
	if r == nil {
		b.focus = onList
		return nil
	}
	_, height := b.bodySize()
	switch key {
	case "enter":
		return b.send(r)
	case "alt+enter", "shift+enter", "ctrl+j":
		r.draft.insert("\n")
	case "esc":
		if !r.drop() {
			b.focus = onBody
		}
	case "up":
		if !r.draft.up() {
			b.focus = onBody
			return b.pick(r, 0)
		}
	case "down":
		r.draft.down()
	case "pgup":
		return b.scroll(r, 1-height)
	case "pgdown":
		return b.scroll(r, height-1)
	default:
		if !r.draft.key(key) && text != "" {
			r.draft.insert(text)
		}
	}
	return b.look()
}

// drop gives up a reply or an edit; false if there is none.
func (r *room) drop() bool {
	switch {
	case r.edits != "":
		r.edits, r.draft, r.before = "", editing(r.before), ""
	case r.replyTo != "":
		r.replyTo = ""
	default:
		return false
	}
	return true
}

// edit begins to change a message.
func (b *Board) edit(r *room, m *message) {
	if m.SenderID != b.options.Me {
		b.Say("only what you have said yourself can be edited")
		return
	}
	if r.edits == "" {
		r.before = r.draft.text
	}
	r.edits, r.replyTo, r.draft = m.ID, "", editing(screen.Clean(screen.TextOf(m.Content)))
	b.focus = onComposer
}

// send sends what was typed. It stays to be seen until the hub has it: see Sent.
func (b *Board) send(r *room) []Effect {
	text := strings.TrimRight(r.draft.text, " \n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if r.closed {
		b.Say("the conversation is closed")
		return nil
	}
	message := Send{Session: r.id, Text: text, ReplyTo: r.replyTo}
	if again := r.failed; again.Text == text && again.ReplyTo == r.replyTo {
		message.ID = again.ID // so that it is stored once, if it has arrived
	}
	var effect Effect = message
	if act, ok := order(r.id, text); ok {
		effect = act
	}
	if r.edits != "" {
		effect = Edit{Message: r.edits, Text: text}
	}
	r.edits, r.replyTo, r.draft, r.before, r.selected = "", "", editing(r.before), "", ""
	return append([]Effect{effect}, b.newest(r)...)
}

// Sent takes what came of a message. One that was not taken is typed again, unless something else is by now.
func (b *Board) Sent(s Send, err error) {
	r := b.rooms[s.Session]
	if r == nil {
		return
	}
	r.failed = Send{}
	if err == nil {
		return
	}
	r.failed = s
	b.Fail("not sent", err)
	if r.draft.text == "" && r.edits == "" {
		r.draft, r.replyTo = editing(s.Text), s.ReplyTo
	}
}

// unsent says whether something is typed that would be lost.
func (b *Board) unsent() bool {
	for _, r := range b.rooms {
		if strings.TrimSpace(r.draft.text) != "" {
			return true
		}
	}
	return false
}

// quit ends the program; the first time it asks if something is typed.
func (b *Board) quit() []Effect {
	if b.unsent() && b.field == nil {
		b.confirm("Quit, and lose what you have typed?", Quit{})
		return nil
	}
	return []Effect{Quit{}}
}

// Typed says in which conversation somebody types; false if nobody does.
func (b *Board) Typed() (client.SessionID, bool) {
	r := b.current()
	if b.focus != onComposer || b.field != nil || r == nil || r.draft.text == "" || r.edits != "" {
		return "", false
	}
	return r.id, true
}
