package board

import "github.com/switchyard-dev/switchyard/hub-server/internal/yard/cells"

// bottom is the last line: what there is to say, else the keys.
func (b *Board) bottom() line {
	style := b.options.Style
	switch {
	case b.flash.bad:
		return line{{" ✗ " + b.flash.text, style.Red}}
	case b.flash.text != "":
		return line{{" " + b.flash.text, style.Yellow}}
	case b.link.why != "":
		return line{{" " + b.link.why, style.Yellow}}
	}
	keys := line{{" " + b.keys(), style.Dim}}
	if elsewhere := len(b.questions) - b.asking(b.open); elsewhere > 0 {
		return sides(keys, line{{" ? asked elsewhere: Ctrl-O", style.Yellow}}, b.width)
	}
	return keys
}

// keys are those that matter now, the most useful first: a narrow screen shows the first of them.
func (b *Board) keys() string {
	switch b.focus {
	case onBody:
		return "↑↓ choose  r reply  e edit  d take back  + react  p pin  c stop  Esc list  ? keys"
	case onComposer:
		return "Enter sends  Alt+Enter new line  Esc messages  Tab around  Ctrl-N next  Ctrl-C quits"
	case onHits:
		return "↑↓ Enter shows where it was said  Esc back"
	case onQuestion:
		return "the keys above answer  ↑↓ scroll  Esc not now"
	}
	return "↑↓ Enter opens  / find  s search  u unread  Ctrl-O answer  ? keys  q quits"
}

// everyKey is the page of the keys, as pairs.
var everyKey = [][2]string{
	{"Tab, Shift-Tab", "list, messages, question, text"},
	{"Ctrl-N, Ctrl-P", "next, previous conversation"},
	{"Ctrl-O", "to what an agent asks"},
	{"Ctrl-C, Ctrl-Q", "quit"},
	{"", ""},
	{"In the list", ""},
	{"↑ ↓ Enter", "choose, open"},
	{"/", "find by name; Esc shows all"},
	{"u s", "next unread, search all"},
	{"", ""},
	{"In messages", ""},
	{"↑ ↓ PgUp PgDn", "choose, scroll"},
	{"g G /", "first, last, search"},
	{"r e d", "reply, edit, take back"},
	{"+ p", "react, pin; again undoes it"},
	{"c a", "stop an agent, answer it"},
	{"", ""},
	{"In the text", ""},
	{"Enter, Alt+Enter", "send, new line"},
	{"↑", "to the messages"},
	{"/steer TEXT", "say it to who works; also /abort, /retry, /compact"},
}

// helpScreen draws the page of the keys.
func (b *Board) helpScreen() Screen {
	const column = 19
	style := b.options.Style
	lines := []string{line{{" Keys — any key goes back", style.Bold}}.render(b.width)}
	for _, k := range everyKey {
		if b.height <= len(everyKey)+2 && k[0] == "" {
			continue // a small screen has no room for gaps
		}
		if k[1] == "" {
			lines = append(lines, line{{" " + k[0], style.Bold}}.render(b.width))
			continue
		}
		lines = append(lines, line{{text: " "}, {cells.Pad(k[0], column-1), style.Cyan}, {text: k[1]}}.render(b.width))
	}
	return Screen{Lines: filled(lines, b.width, b.height-1)}
}
