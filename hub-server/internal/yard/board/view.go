package board

import (
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
)

// Screen is what is seen: Height lines that each take exactly Width cells.
type Screen struct {
	Lines  []string
	Cursor bool // there is one, at column X of line Y, from 0
	X, Y   int
}

// String is the screen as a terminal takes it.
func (s Screen) String() string { return strings.Join(s.Lines, "\n") }

const gutter = 1 // cells in front of a conversation's lines, for what is selected

// View draws the screen.
func (b *Board) View() Screen {
	var s Screen
	switch {
	case b.help:
		s = b.helpScreen()
	case b.wide():
		s = b.beside()
	case b.hits != nil:
		s = b.pane(b.width, b.height-1)
	case b.focus == onList || b.current() == nil:
		s.Lines = b.list(b.width, b.height-1)
	default:
		s = b.conversationScreen(b.width, b.height-1)
	}
	if b.field != nil {
		text, x := b.field.shown(b.width)
		s.Lines = append(s.Lines, text.render(b.width))
		s.Cursor, s.X, s.Y = true, x, b.height-1
		return s
	}
	s.Lines = append(s.Lines, b.bottom().render(b.width))
	return s
}

// listWidth is how wide the list is beside a conversation.
func (b *Board) listWidth() int { return min(max(b.width*3/10, 20), 34) }

// beside draws the list and the conversation.
func (b *Board) beside() Screen {
	width := b.listWidth()
	left, right := b.list(width, b.height-1), b.pane(b.width-width-1, b.height-1)
	bar := line{{"│", b.options.Style.Dim}}.render(1)
	for i := range right.Lines {
		right.Lines[i] = left[i] + bar + right.Lines[i]
	}
	right.X += width + 1
	return right
}

// pane draws what is at the right: the conversation, or what was found.
func (b *Board) pane(width, height int) Screen {
	if b.hits != nil {
		return b.hitScreen(width, height)
	}
	return b.conversationScreen(width, height)
}

// list draws the conversations.
func (b *Board) list(width, height int) []string {
	title := line{{"Conversations", b.options.Style.Bold}}
	if b.filter != "" {
		title = line{{"Named “" + b.filter + "”", b.options.Style.Bold}}
	}
	if !b.wide() {
		title = sides(title, b.linkLine(), width)
	}
	lines := []string{title.render(width)}
	all, at := b.listed(), 0
	for i, r := range all {
		if r.id == b.cursor {
			at = i
		}
	}
	rows := height - 1
	begin := min(max(at-rows/2, 0), max(len(all)-rows, 0))
	for _, r := range all[begin:min(begin+rows, len(all))] {
		lines = append(lines, b.row(r, width))
	}
	if len(all) == 0 {
		for _, text := range cells.Wrap(b.none(), width-2) {
			lines = append(lines, line{{" " + text, b.options.Style.Dim}}.render(width))
		}
	}
	return filled(lines, width, height)
}

// none says why there is no conversation.
func (b *Board) none() string {
	switch {
	case b.filter != "":
		return "none has that in its name"
	case b.link.live():
		return "none yet; yard send --session NAME TEXT begins one"
	}
	return "waiting for the hub"
}

func (b *Board) row(r *room, width int) string {
	style := b.options.Style
	pointer := span{text: "  "}
	if r.id == b.cursor {
		pointer = span{"> ", style.Cyan}
	}
	name, right := span{text: b.title(r)}, line{}
	if b.asking(r.id) > 0 {
		right = append(right, span{" ?", style.Yellow})
	}
	if r.working() {
		right = append(right, span{" ▶", style.Cyan})
	}
	switch n := r.unread(); {
	case n > 0 && r.info.Muted:
		right = append(right, span{" (" + strconv.FormatInt(n, 10) + ")", style.Dim})
	case n > 0:
		name.look = style.Bold
		right = append(right, span{" " + strconv.FormatInt(n, 10), style.Bold})
	case r.info.Archived || r.closed:
		name.look = style.Dim
	}
	if r.id == b.open && name.look == nil {
		name.look = style.Cyan
	}
	return sides(line{pointer, name}, right, width).render(width)
}

// working says whether an agent works in the conversation.
func (r *room) working() bool {
	for _, x := range r.runs {
		if !x.over() {
			return true
		}
	}
	return false
}

// parts are the heights of a conversation's parts below its title.
type parts struct {
	body, panel, composer int // the latter two with the rule above them; 0 for none
}

// parts shares the lines: the composer grows with what is typed, the panel with what is asked, up to a half.
func (b *Board) parts(r *room, width, height int) parts {
	text, _, _ := r.draft.lay(width - gutter - 1)
	p := parts{composer: 1 + min(len(text), max(height/4, 1))}
	if q := b.asks(); q != nil {
		p.panel = 2 + min(len(b.questionLines(q, width-gutter)), max(height/2-2, 1)) // the rule, the lines, the keys
	}
	p.panel = min(p.panel, max(height-1-p.composer-1, 0))
	p.body = max(height-1-p.composer-p.panel, 0)
	return p
}

// bodySize is how much of the screen shows what was said.
func (b *Board) bodySize() (width, height int) {
	width = b.width
	if b.wide() {
		width -= b.listWidth() + 1
	}
	r := b.current()
	if r == nil {
		return width - gutter, b.height - 2
	}
	return width - gutter, max(b.parts(r, width, b.height-1).body, 1)
}

// conversationScreen draws the conversation that is open.
func (b *Board) conversationScreen(width, height int) Screen {
	r := b.current()
	if r == nil {
		return Screen{Lines: filled([]string{sides(line{}, b.linkLine(), width).render(width)}, width, height)}
	}
	p := b.parts(r, width, height)
	lines := append([]string{b.head(r, width).render(width)}, b.body(r, width, p.body)...)
	if p.panel > 0 {
		lines = append(lines, b.panel(width, p.panel)...)
	}
	typed, x, y := b.composer(r, width, p.composer)
	s := Screen{Lines: filled(append(lines, typed...), width, height), X: x, Y: len(lines) + y}
	s.Cursor = b.focus == onComposer
	return s
}

// head is the title of a conversation, with the connection at its right.
func (b *Board) head(r *room, width int) line {
	style := b.options.Style
	title := line{{" " + b.title(r), style.Bold}}
	if r.info.Name != "" {
		title = append(title, span{" " + b.others(r), style.Dim})
	}
	return sides(title, append(line{{text: " "}}, b.linkLine()...), width)
}

// body draws what was said.
func (b *Board) body(r *room, width, height int) []string {
	style := b.options.Style
	v := b.viewport(r, width-gutter, height)
	var lines []string
	for _, at := range v.lines {
		i := v.items[at.item]
		mark := span{text: " "}
		if i.key() == r.selected && b.focus == onBody {
			mark = span{"▌", style.Cyan}
		}
		lines = append(lines, append(line{mark}, v.lays(at.item)[at.line]...).render(width))
	}
	if len(lines) == 0 {
		lines = []string{line{{" " + b.nothing(r), style.Dim}}.render(width)}
	}
	return append(filled(nil, width, max(height-len(lines), 0)), lines...)[:height]
}

func (b *Board) nothing(r *room) string {
	if r.loaded {
		return "nothing was said yet"
	}
	return "…"
}
