package board

import (
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// visible is a line of an item that is on the screen.
type visible struct {
	item int // its place among the items
	line int // its place among the lines of the item
}

// viewport is what of a conversation is on the screen: the lines from its top to its bottom.
type viewport struct {
	items []item
	lays  func(i int) []line
	lines []visible
	top   bool // it begins with the first line of the first item
	end   bool // it ends with the last line of the last item
}

// viewport looks at a conversation through a window.
func (b *Board) viewport(r *room, width, height int) viewport {
	v := viewport{items: r.items()}
	v.lays = func(i int) []line { return b.lay(r, v.items[i], width) }
	i, skip := v.bottom(r.anchor)
	v.end = i < 0 || i == len(v.items)-1 && skip == 0
	for ; i >= 0 && len(v.lines) < height; i, skip = i-1, 0 {
		for n := len(v.lays(i)) - 1 - skip; n >= 0 && len(v.lines) < height; n-- {
			v.lines = append(v.lines, visible{i, n})
		}
	}
	slices.Reverse(v.lines)
	v.top = len(v.lines) == 0 || v.lines[0] == visible{}
	if v.top && !v.end { // there is room below
		v.down(height - len(v.lines))
	}
	return v
}

// bottom is the item at the bottom, and how many of its lines are below the edge.
func (v *viewport) bottom(a anchor) (i, skip int) {
	if a.key != "" {
		for i := range v.items {
			if v.items[i].key() == a.key {
				return i, min(a.skip, len(v.lays(i))-1)
			}
		}
	}
	return len(v.items) - 1, 0
}

// down shows up to n further lines at the bottom.
func (v *viewport) down(n int) {
	for at := v.last(); n > 0; n-- {
		next, ok := v.next(at)
		if !ok {
			break
		}
		v.lines = append(v.lines, next)
		at = next
	}
	_, more := v.next(v.last())
	v.end = !more
}

func (v *viewport) last() visible {
	if len(v.lines) == 0 {
		return visible{len(v.items) - 1, 0}
	}
	return v.lines[len(v.lines)-1]
}

// next is the line below; false at the end.
func (v *viewport) next(at visible) (visible, bool) {
	switch {
	case at.item < 0 || at.item >= len(v.items):
		return at, false
	case at.line+1 < len(v.lays(at.item)):
		return visible{at.item, at.line + 1}, true
	case at.item+1 < len(v.items):
		return visible{at.item + 1, 0}, true
	}
	return at, false
}

// before is the line above; false at the beginning.
func (v *viewport) before(at visible) (visible, bool) {
	switch {
	case at.line > 0:
		return visible{at.item, at.line - 1}, true
	case at.item > 0:
		return visible{at.item - 1, len(v.lays(at.item-1)) - 1}, true
	}
	return at, false
}

// anchorAt is the anchor of a screen whose bottom line is at; none at the very end, where the screen goes along with what comes.
func (v *viewport) anchorAt(at visible) anchor {
	if _, more := v.next(at); !more {
		return anchor{}
	}
	return anchor{v.items[at.item].key(), len(v.lays(at.item)) - 1 - at.line}
}

// scroll moves the screen by n lines, downwards if n is positive.
func (b *Board) scroll(r *room, n int) []Effect {
	width, height := b.bodySize()
	v := b.viewport(r, width, height)
	if len(v.lines) == 0 {
		return b.older(r)
	}
	top, at := v.lines[0], v.last()
	for ; n > 0; n-- {
		at, _ = v.next(at)
	}
	for above := true; n < 0 && above; n++ {
		if top, above = v.before(top); above {
			at, _ = v.before(at)
		}
	}
	r.anchor = v.anchorAt(at)
	now := b.viewport(r, width, height)
	var effects []Effect
	if now.top {
		effects = b.older(r)
	}
	if now.end && r.detached {
		effects = append(effects, b.newest(r)...)
	}
	return append(effects, b.look()...)
}

func before(x, y visible) bool { return x.item < y.item || x.item == y.item && x.line < y.line }

// older asks for the page in front of the first message.
func (b *Board) older(r *room) []Effect {
	if !r.loaded {
		return b.load(r)
	}
	if r.loading || r.whole || len(r.messages) == 0 {
		return nil
	}
	r.loading = true
	return []Effect{Fetch{Session: r.id, Before: r.messages[0].SeqID}}
}

// newest goes back to the end of a conversation.
func (b *Board) newest(r *room) []Effect {
	r.anchor = anchor{}
	if !r.detached {
		return b.look()
	}
	r.forget()
	return b.load(r)
}

// pick moves the selection by one item and keeps it on the screen.
func (b *Board) pick(r *room, by int) []Effect {
	width, height := b.bodySize()
	v := b.viewport(r, width, height)
	if len(v.items) == 0 {
		return b.older(r)
	}
	at := slices.IndexFunc(v.items, func(i item) bool { return i.key() == r.selected })
	switch {
	case at < 0:
		at = v.last().item
	case at+by < 0:
		return b.scroll(r, by)
	case at+by >= len(v.items):
		r.selected = ""
		return b.newest(r)
	default:
		at += by
	}
	r.selected = v.items[at].key()
	return b.reveal(r, v, at, height)
}

// reveal moves the screen no further than needed to show an item, from its beginning.
func (b *Board) reveal(r *room, v viewport, at, height int) []Effect {
	lines := len(v.lays(at))
	firstLine, lastLine := visible{at, 0}, visible{at, lines - 1}
	switch {
	case len(v.lines) == 0:
	case before(firstLine, v.lines[0]) || lines > height: // its beginning at the top
		bottom := firstLine
		for n := 1; n < height; n++ {
			bottom, _ = v.next(bottom)
		}
		r.anchor = v.anchorAt(bottom)
	case before(v.last(), lastLine):
		r.anchor = v.anchorAt(lastLine)
	}
	if at == 0 {
		return append(b.older(r), b.look()...)
	}
	return b.look()
}

// chosen is what is selected; false if nothing is.
func (r *room) chosen() (item, bool) {
	for _, i := range r.items() {
		if i.key() == r.selected {
			return i, true
		}
	}
	return item{}, false
}

// chosenMessage is the message that is selected; nil if none is.
func (r *room) chosenMessage() *message {
	i, ok := r.chosen()
	if !ok {
		return nil
	}
	return i.message
}

// lastOf is the newest message of somebody that can be changed; nil if there is none.
func (r *room) lastOf(who client.UserID) *message {
	for _, m := range slices.Backward(r.messages) {
		if m.SenderID == who && !m.Recalled {
			return m
		}
	}
	return nil
}
