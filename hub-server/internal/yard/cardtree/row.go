package cardtree

import (
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// part is text of one look; a nil look leaves it as it is.
type part struct {
	text string
	look func(string) string
}

// row is what stands on one line, with a space between its parts.
type row []part

// maxPart is how much of one part is kept at all: nobody reads further on one line.
const maxPart = 400 // runes

// with adds a part. All text of a row passes here, whoever wrote it: it is on one line and can do nothing to the terminal but show.
func (r row) with(look func(string) string, text string) row {
	return r.whole(look, screen.Line(text, maxPart))
}

// whole adds a part of any length, on one line too.
func (r row) whole(look func(string) string, text string) row {
	if text = strings.Join(strings.Fields(screen.Clean(text)), " "); text == "" {
		return r
	}
	return append(r, part{text, look})
}

func (r row) width() int {
	total := max(len(r)-1, 0)
	for _, p := range r {
		total += cells.Width(p.text)
	}
	return total
}

// cut keeps the row to width cells; an ellipsis says that there was more.
func (r row) cut(width int) row {
	var kept row
	for _, p := range r {
		if len(kept) > 0 {
			width--
		}
		if width <= 0 {
			break
		}
		shown := cells.Cut(p.text, width)
		kept = append(kept, part{shown, p.look})
		if shown != p.text {
			break
		}
		width -= cells.Width(shown)
	}
	return kept
}

// String is the row with its looks.
func (r row) String() string {
	shown := make([]string, len(r))
	for i, p := range r {
		shown[i] = p.text
		if p.look != nil {
			shown[i] = p.look(p.text)
		}
	}
	return strings.Join(shown, " ")
}

// beside is a line of left and right; right wins where there is no room for both. Width 0 is room enough.
func beside(left, right row, width int) string {
	if width > 0 {
		right = right.cut(width)
		room := width - right.width()
		if len(right) > 0 {
			room--
		}
		left = left.cut(room)
	}
	return append(left[:len(left):len(left)], right...).String()
}
