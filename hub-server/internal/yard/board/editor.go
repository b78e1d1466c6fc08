package board

import (
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// maxTyped is how many bytes a text may have; what the contract takes as a prompt.
const maxTyped = 64 << 10

// editor is a text that is being typed. Its zero value is empty.
type editor struct {
	text string
	at   int // of the cursor, in bytes; between two characters as a reader sees them
}

func editing(text string) editor { return editor{text: text, at: len(text)} }

// insert puts text at the cursor; nothing if that would be too much.
func (e *editor) insert(text string) {
	text = screen.Clean(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	if !utf8.ValidString(text) || len(e.text)+len(text) > maxTyped {
		return
	}
	e.text = e.text[:e.at] + text + e.text[e.at:]
	e.at += len(text)
}

// key edits by a key; false if the key means nothing to an editor.
func (e *editor) key(key string) bool {
	switch key {
	case "left", "ctrl+b":
		e.at -= e.before()
	case "right", "ctrl+f":
		e.at += e.behind()
	case "home", "ctrl+a":
		e.at = e.begin()
	case "end", "ctrl+e":
		e.at = e.end()
	case "backspace", "ctrl+h":
		e.cut(e.at-e.before(), e.at)
	case "delete", "ctrl+d":
		e.cut(e.at, e.at+e.behind())
	case "ctrl+u":
		e.cut(e.begin(), e.at)
	case "ctrl+k":
		e.cut(e.at, e.end())
	case "ctrl+w", "alt+backspace":
		e.cut(e.word(), e.at)
	default:
		return false
	}
	return true
}

// before is how many bytes the character in front of the cursor has.
func (e *editor) before() int {
	all := cells.Clusters(e.text[:e.at])
	if len(all) == 0 {
		return 0
	}
	return len(all[len(all)-1])
}

func (e *editor) behind() int {
	all := cells.Clusters(e.text[e.at:])
	if len(all) == 0 {
		return 0
	}
	return len(all[0])
}

// begin and end are those of the line that the cursor is in.
func (e *editor) begin() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *editor) end() int {
	if n := strings.IndexByte(e.text[e.at:], '\n'); n >= 0 {
		return e.at + n
	}
	return len(e.text)
}

// word is where the word in front of the cursor begins.
func (e *editor) word() int {
	head := strings.TrimRight(e.text[:e.at], " ")
	return max(strings.LastIndexAny(head, " \n")+1, e.begin())
}

func (e *editor) cut(from, to int) {
	e.text = e.text[:from] + e.text[to:]
	e.at = from
}

// up moves the cursor to the line above; false in the first one.
func (e *editor) up() bool {
	begin := e.begin()
	if begin == 0 {
		return false
	}
	column := cells.Width(e.text[begin:e.at])
	e.at = begin - 1
	e.column(column)
	return true
}

// down moves the cursor to the line below, if there is one.
func (e *editor) down() {
	end := e.end()
	if end == len(e.text) {
		return
	}
	column := cells.Width(e.text[e.begin():e.at])
	e.at = end + 1
	e.column(column)
}

func (e *editor) column(column int) {
	begin, end := e.begin(), e.end()
	head, _ := cells.Split(e.text[begin:end], column)
	e.at = begin + len(head)
}

// lay breaks the text into lines of width cells, at the edge and nowhere else, and says where the cursor is.
func (e *editor) lay(width int) (lines []string, x, y int) {
	from := 0
	for paragraph := range strings.SplitSeq(e.text, "\n") {
		rest, begin := strings.ReplaceAll(paragraph, "\t", " "), from
		for {
			head, tail := cells.Split(rest, width)
			if head == "" {
				head, tail = rest, ""
			}
			last := tail == ""
			if in := e.at - begin; in >= 0 && (in < len(head) || in == len(head) && last) {
				x, y = cells.Width(head[:in]), len(lines)
			}
			lines = append(lines, head)
			if last {
				break
			}
			begin, rest = begin+len(head), tail
		}
		from += len(paragraph) + 1
	}
	if x >= width { // behind a full line
		x, y = 0, y+1
		lines = append(lines[:y], append([]string{""}, lines[y:]...)...)
	}
	return lines, x, y
}
