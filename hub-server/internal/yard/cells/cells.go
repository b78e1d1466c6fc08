// Package cells measures, cuts and wraps text by the cells that it takes in a terminal: a Chinese character takes two, a combining mark none.
// Text must be free of control characters; screen.Clean sees to that.
package cells

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

const (
	ellipsis = "…"
	tab      = "    "
)

// Width is how many cells a line takes.
func Width(line string) int { return displaywidth.String(line) }

// Clusters are what a reader takes for the characters of a text.
func Clusters(text string) []string {
	var all []string
	for each := displaywidth.StringGraphemes(text); each.Next(); {
		all = append(all, each.Value())
	}
	return all
}

// Cut returns as much of a line as fits into width cells; an ellipsis says that there is more.
func Cut(line string, width int) string {
	if Width(line) <= width {
		return line
	}
	if width <= 0 {
		return ""
	}
	head, _ := Split(line, width-Width(ellipsis))
	return head + ellipsis
}

// Split cuts a line in two, the first of which fits into width cells.
func Split(line string, width int) (head, rest string) {
	used, at := 0, 0
	for each := displaywidth.StringGraphemes(line); each.Next(); {
		if used += each.Width(); used > width {
			break
		}
		at += len(each.Value())
	}
	return line[:at], line[at:]
}

// Pad cuts a line, or fills it with spaces, so that it takes exactly width cells.
func Pad(line string, width int) string {
	line = Cut(line, width)
	return line + strings.Repeat(" ", max(width-Width(line), 0))
}

// Wrap breaks text into lines of at most width cells: at spaces and between wide characters, but not before closing punctuation; inside of a word
// only if it is wider than a line. Lines keep their indentation. There is at least one line.
func Wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\t", tab), "\n") {
		lines = append(lines, wrapLine(strings.TrimRight(paragraph, " "), max(width, 2))...)
	}
	return lines
}
