package board

import (
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// span is text of one look.
type span struct {
	text string
	look look
}

// look says how text is painted; nil is as it is.
type look func(string) string

// line is a line of the screen, from left to right.
type line []span

func plain(text string) line { return line{{text: text}} }

// safe is text that takes exactly the cells that it seems to, whatever stands beside it. All text of the screen passes here, whoever wrote it: it can
// do nothing to the terminal but show.
func safe(text string) string {
	text = strings.Map(oneLine, screen.Clean(text))
	for text != "" && cells.Width(" "+text+" ") != cells.Width(text)+2 { // it would become one character with its neighbour
		if cells.Width(" "+text) != cells.Width(text)+1 {
			_, n := utf8.DecodeRuneInString(text)
			text = text[n:]
			continue
		}
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

func oneLine(r rune) rune {
	if r == '\n' || r == '\t' {
		return ' '
	}
	return r
}

func (l line) width() int {
	total := 0
	for _, s := range l {
		total += cells.Width(safe(s.text))
	}
	return total
}

// fit returns the line cut or filled to width cells.
func (l line) fit(width int) line {
	var fitted line
	left := width
	for _, s := range l {
		text := safe(s.text)
		shown := cells.Cut(text, left)
		fitted = append(fitted, span{shown, s.look})
		left -= cells.Width(shown)
		if shown != text {
			break // the ellipsis stands for the rest too
		}
	}
	return append(fitted, span{text: strings.Repeat(" ", max(left, 0))})
}

// render writes the line in width cells.
func (l line) render(width int) string {
	var b strings.Builder
	for _, s := range l.fit(width) {
		if s.look == nil || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString(s.look(s.text))
	}
	return b.String()
}

// sides is a line with something at its right end, which wins where there is no room for both.
func sides(left, right line, width int) line {
	room := width - right.width()
	if room < 0 {
		return right.fit(width)
	}
	return append(left.fit(room), right...)
}

// wrapped breaks text into lines, each behind an indentation.
func wrapped(text, indent string, width int) []line {
	var all []line
	for _, part := range cells.Wrap(screen.Clean(text), width-cells.Width(indent)) {
		all = append(all, line{{text: indent}, {text: part}})
	}
	return all
}
