package board

import (
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// panel draws what is asked.
func (b *Board) panel(width, height int) []string {
	style, q := b.options.Style, b.asks()
	title := b.name(q.AgentID) + " asks"
	if n := b.asking(b.open); n > 1 {
		title += " (1 of " + strconv.Itoa(n) + ")"
	}
	lines := []string{rule(title, width, style.Yellow)}
	all := b.questionLines(q, width-gutter)
	rows := max(height-2, 0)
	q.scroll = min(q.scroll, max(len(all)-rows, 0))
	from := q.scroll
	if q.optioned() { // what is pointed at is seen
		for i, l := range all {
			if len(l) > 0 && l[0].text == "▸ " && i >= rows {
				from = i - rows + 1
			}
		}
	}
	for _, l := range all[from:min(from+rows, len(all))] {
		lines = append(lines, append(line{{text: " "}}, l...).render(width))
	}
	keys := line{{" Ctrl-O answers", style.Dim}}
	switch {
	case q.sending:
		keys = line{{" answering …", style.Dim}}
	case b.focus == onQuestion:
		keys = line{{" " + q.ways(), style.Cyan}}
	}
	if from+rows < len(all) {
		keys = sides(keys, line{{" ↓ more", style.Yellow}}, width)
	}
	return filled(append(lines, keys.render(width)), width, height)
}

// composer draws what is being typed, and says where the cursor is.
func (b *Board) composer(r *room, width, height int) (lines []string, x, y int) {
	style := b.options.Style
	title, look := "", style.Dim
	switch {
	case r.closed:
		title = "closed"
	case r.edits != "":
		title = "editing: " + b.quote(r, r.edits)
	case r.replyTo != "":
		title = "reply to " + b.quote(r, r.replyTo)
	case r.unread() > 0 && r.anchor.key != "":
		title = "↓ " + strconv.FormatInt(r.unread(), 10) + " unread below"
	}
	if b.focus == onComposer {
		look = style.Cyan
	}
	lines = []string{rule(title, width, look)}
	typed, x, y := r.draft.lay(width - gutter - 1)
	rows := max(height-1, 0)
	from := min(max(y-rows+1, 0), max(len(typed)-rows, 0))
	for _, text := range typed[from:min(from+rows, len(typed))] {
		lines = append(lines, plain(" "+text).render(width))
	}
	return lines, x + gutter, y - from + 1
}

// rule is a line across the pane, with a title.
func rule(title string, width int, paint look) string {
	text := "──"
	if title != "" {
		text += " " + screen.Line(title, width) + " "
	}
	text = cells.Cut(text, width)
	return line{{text + strings.Repeat("─", max(width-cells.Width(text), 0)), paint}}.render(width)
}

// filled makes lines as many as asked for.
func filled(lines []string, width, height int) []string {
	for len(lines) < height {
		lines = append(lines, strings.Repeat(" ", width))
	}
	return lines[:height]
}

// shown is the field in the bottom line, and where the cursor is in it.
func (f *field) shown(width int) (line, int) {
	label := cells.Cut(f.label, width/2)
	room := width - cells.Width(label) - 1
	head := f.edit.text[:f.edit.at]
	for cells.Width(safe(head)) > room { // what does not fit is to the left
		first := cells.Clusters(head)[0]
		head = head[len(first):]
	}
	tail := f.edit.text[f.edit.at:]
	return plain(label + head + tail), cells.Width(label) + cells.Width(safe(head))
}
