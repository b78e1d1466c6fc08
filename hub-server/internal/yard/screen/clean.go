package screen

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns text that cannot do anything to a terminal but show: agents and people write what they like, escape sequences and
// characters that turn the direction of writing included. Line ends and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError:
			return -1
		case unicode.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, text)
}

// Line returns text as one line of at most width runes.
func Line(text string, width int) string {
	text = strings.Join(strings.Fields(Clean(text)), " ")
	if runes := []rune(text); len(runes) > width {
		return string(runes[:max(width-1, 0)]) + "…"
	}
	return text
}

// telling are the arguments of a tool that say most, the most telling first.
var telling = []string{"command", "cmd", "path", "file_path", "file", "pattern", "query", "url", "name"}

// Arguments summarises the arguments of a tool call in one line: the one that says most, else name=value of all.
func Arguments(raw json.RawMessage, width int) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return Line(string(raw), width)
	}
	for _, name := range telling {
		var value string
		if json.Unmarshal(fields[name], &value) == nil && value != "" {
			return Line(value, width)
		}
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := string(fields[name])
		var text string
		if json.Unmarshal(fields[name], &text) == nil {
			value = text
		}
		pairs = append(pairs, name+"="+value)
	}
	return Line(strings.Join(pairs, " "), width)
}
