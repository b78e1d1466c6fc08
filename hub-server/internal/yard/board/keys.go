package board

import (
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Key takes a key: its name, such as "enter", "ctrl+n" or "a", and the text that it types, "" for none.
func (b *Board) Key(key, text string) []Effect {
	b.flash, b.touched = flash{}, b.options.Now()
	return append(b.key(key, text), b.look()...)
}

func (b *Board) key(key, text string) []Effect {
	switch {
	case key == "ctrl+c" || key == "ctrl+q":
		return b.quit()
	case b.help:
		b.help = false
		return nil
	case b.field != nil:
		return b.fieldKey(key, text)
	}
	switch key {
	case "ctrl+n":
		return b.step(1)
	case "ctrl+p":
		return b.step(-1)
	case "ctrl+o":
		return b.toQuestion()
	case "tab":
		return b.turn(1)
	case "shift+tab":
		return b.turn(-1)
	}
	switch b.focus {
	case onComposer:
		return b.composeKey(key, text)
	case onBody:
		return b.bodyKey(key)
	case onQuestion:
		return b.questionKey(key)
	case onHits:
		return b.hitKey(key)
	}
	return b.listKey(key)
}

// Paste takes text that was pasted: it is never taken for keys.
func (b *Board) Paste(text string) []Effect {
	switch r := b.current(); {
	case b.help:
	case b.field != nil && !b.field.yes:
		b.field.edit.insert(text)
		if b.field.live {
			return b.field.then(b.field.edit.text)
		}
	case b.focus == onComposer && r != nil:
		r.draft.insert(text)
	}
	return nil
}

// turn moves the focus around.
func (b *Board) turn(by int) []Effect {
	if b.hits != nil {
		b.closeHits()
		return b.look()
	}
	stops := []focus{onList}
	if b.current() != nil {
		stops = append(stops, onBody)
		if b.asks() != nil {
			stops = append(stops, onQuestion)
		}
		stops = append(stops, onComposer)
	}
	at := slices.Index(stops, b.focus)
	b.focus = stops[(at+by+len(stops))%len(stops)]
	return b.look()
}

// step shows the next conversation of the list.
func (b *Board) step(by int) []Effect {
	all := b.listed()
	if len(all) == 0 {
		return nil
	}
	at := slices.IndexFunc(all, func(r *room) bool { return r.id == b.open })
	at = min(max(at+by, 0), len(all)-1)
	b.hits = nil
	if b.focus != onBody && b.focus != onComposer {
		b.focus = onBody
	}
	return b.enter(all[at].id)
}

// toQuestion goes to the oldest question: of this conversation, else of any.
func (b *Board) toQuestion() []Effect {
	var effects []Effect
	if b.asks() == nil {
		if len(b.questions) == 0 {
			b.Say("nothing waits for an answer")
			return nil
		}
		effects = b.enter(b.questions[0].SessionID)
	}
	if b.asks() != nil {
		b.focus, b.hits = onQuestion, nil
	}
	return append(effects, b.look()...)
}

func (b *Board) listKey(key string) []Effect {
	all := b.listed()
	at := slices.IndexFunc(all, func(r *room) bool { return r.id == b.cursor })
	switch key {
	case "q":
		return b.quit()
	case "?":
		b.help = true
	case "/":
		b.field = &field{label: "Find: ", edit: editing(b.filter), live: true, then: b.find}
	case "esc":
		return b.find("")
	case "up", "k":
		b.point(all, at-1)
	case "down", "j":
		b.point(all, at+1)
	case "pgup":
		b.point(all, at-b.height/2)
	case "pgdown":
		b.point(all, at+b.height/2)
	case "home", "g":
		b.point(all, 0)
	case "end", "G":
		b.point(all, len(all)-1)
	case "s":
		b.search("")
	case "u":
		return b.unread(all, at)
	case "enter", "right", "l":
		if at >= 0 {
			b.focus = onComposer
			return b.enter(b.cursor)
		}
	}
	return nil
}

func (b *Board) point(all []*room, at int) {
	if len(all) > 0 {
		b.cursor = all[min(max(at, 0), len(all)-1)].id
	}
}

// unread shows the next conversation with something unread.
func (b *Board) unread(all []*room, at int) []Effect {
	for i := range all {
		r := all[(max(at, 0)+1+i)%len(all)]
		if r.unread() > 0 && !r.info.Muted {
			b.focus = onBody
			return b.enter(r.id)
		}
	}
	b.Say("everything is read")
	return nil
}

// find narrows the list to names that have a text.
func (b *Board) find(text string) []Effect {
	b.filter = text
	if all := b.listed(); len(all) > 0 && !slices.ContainsFunc(all, func(r *room) bool { return r.id == b.cursor }) {
		b.cursor = all[0].id
	}
	return nil
}

func (b *Board) bodyKey(key string) []Effect {
	r := b.current()
	if r == nil {
		b.focus = onList
		return nil
	}
	switch key {
	case "enter", "i":
		b.focus = onComposer
	case "left", "h":
		b.focus = onList
	case "esc":
		if r.selected == "" {
			b.focus = onList
		}
		r.selected = ""
	case "?":
		b.help = true
	case "/":
		b.search(r.id)
	case "a":
		return b.toQuestion()
	case "c":
		return b.cancel(r)
	default:
		return append(b.moveKey(r, key), b.messageKey(r, key)...)
	}
	return nil
}

// moveKey moves through a conversation.
func (b *Board) moveKey(r *room, key string) []Effect {
	_, height := b.bodySize()
	switch key {
	case "up", "k":
		return b.pick(r, -1)
	case "down", "j":
		return b.pick(r, 1)
	case "pgup", "ctrl+u":
		return b.scroll(r, 1-height)
	case "pgdown", "ctrl+d", "space":
		return b.scroll(r, height-1)
	case "home", "g":
		return b.scroll(r, -maxKept*height)
	case "end", "G":
		r.selected = ""
		return b.newest(r)
	}
	return nil
}

// cancel stops the run that is selected, or the only one.
func (b *Board) cancel(r *room) []Effect {
	at, _ := r.chosen()
	if at.run == nil {
		for _, x := range r.runs {
			switch {
			case x.over():
			case at.run != nil:
				b.Say("several agents work here: choose the one to stop with ↑ and ↓")
				return nil
			default:
				at.run = x
			}
		}
	}
	if at.run == nil || at.run.over() {
		b.Say("nothing to stop here")
		return nil
	}
	b.confirm("Stop "+b.name(at.run.agent)+"?", Cancel{Run: at.run.id})
	return nil
}

// messageKey does something with the message that is selected.
func (b *Board) messageKey(r *room, key string) []Effect {
	if !slices.Contains([]string{"r", "e", "d", "+", "p"}, key) {
		return nil
	}
	m := r.chosenMessage()
	if m == nil && key == "e" {
		m = r.lastOf(b.options.Me)
	}
	switch {
	case m == nil:
		b.Say("choose a message first: ↑ and ↓")
	case m.Recalled:
		b.Say("the message was taken back")
	case key == "r":
		r.replyTo, r.edits = m.ID, ""
		b.focus = onComposer
	case key == "e":
		b.edit(r, m)
	case key == "d":
		b.confirm("Take this message back?", Recall{Message: m.ID})
	case key == "+":
		b.react(m)
	case key == "p":
		return []Effect{Pin{Message: m.ID, Off: !m.Pinned.PinnedAt.IsZero()}}
	}
	return nil
}

// react asks for a reaction; one that is there already is taken away.
func (b *Board) react(m *message) {
	id := m.ID
	b.field = &field{label: "React with: ", then: func(text string) []Effect {
		if text == "" {
			return nil
		}
		return []Effect{React{Message: id, Reaction: text, Off: b.reactedWith(id, text)}}
	}}
}

func (b *Board) reactedWith(id client.MessageID, reaction string) bool {
	r := b.current()
	if r == nil || r.message(id) == nil {
		return false
	}
	return slices.ContainsFunc(r.message(id).Reactions, func(x client.Reaction) bool {
		return x.Reaction == reaction && slices.Contains(x.UserIds, b.options.Me)
	})
}
