package cells

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// closing is what must not begin a line: it belongs to what stands before it.
const closing = "，。、；：！？）】》」』〉〕…—”’"

// piece is what is not broken if that can be avoided: a word, a wide character with the punctuation behind it, or spaces.
type piece struct {
	text  string
	width int
	space bool
	word  bool // of narrow characters: the next one belongs to it
}

// pieces parts a line at all places where it may be broken.
func pieces(line string) []piece {
	var all []piece
	for each := displaywidth.StringGraphemes(line); each.Next(); {
		text, width := each.Value(), each.Width()
		now := piece{text: text, width: width, space: text == " ", word: width < 2 && text != " "}
		if last := len(all) - 1; last >= 0 && belongs(all[last], now) {
			all[last].text += text
			all[last].width += width
			all[last].word = all[last].word && width < 2
			continue
		}
		all = append(all, now)
	}
	return all
}

// belongs says whether a line must not be broken between two pieces.
func belongs(before, now piece) bool {
	switch {
	case now.space || before.space:
		return now.space && before.space
	case strings.Contains(closing, now.text):
		return true
	}
	return before.word && now.word
}

func wrapLine(line string, width int) []string {
	var lines []string
	var now strings.Builder
	used := 0
	end := func() {
		lines = append(lines, strings.TrimRight(now.String(), " "))
		now.Reset()
		used = 0
	}
	for i, p := range pieces(line) {
		switch {
		case p.space && i == 0: // the indentation
			p.width = min(p.width, width/2)
			p.text = p.text[:p.width]
		case p.space && used == 0:
			continue // what a line was broken at
		}
		if used > 0 && used+p.width > width {
			end()
			if p.space {
				continue
			}
		}
		for p.width > width {
			head, rest := Split(p.text, width)
			if head == "" {
				break
			}
			now.WriteString(head)
			end()
			p.text, p.width = rest, Width(rest)
		}
		now.WriteString(p.text)
		used += p.width
	}
	end()
	return lines
}
