package screen

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// said is what a message of any kind says, on one line.
func said(m client.Message) string {
	var fields map[string]any
	json.Unmarshal(m.Content, &fields) //nolint:errcheck // then it says nothing that can be shown
	var parts []string
	for _, name := range []string{"text", "title", "caption", "code", "diff", "description", "filename", "alt", "environment", "version", "site_name", "url"} {
		if part, ok := fields[name].(string); ok && !strings.HasPrefix(part, "data:") {
			parts = append(parts, part)
		}
	}
	for _, a := range m.Attachments {
		parts = append(parts, "["+a.Filename+"]")
	}
	return strings.Join(strings.Fields(Clean(strings.Join(parts, " "))), " ")
}

// Excerpt is as much of what a message of any kind says as can be read at a glance, around the first of the words that is in it.
func Excerpt(m client.Message, words []string) string {
	const most, before = 120, 30 // runes
	line := said(m)
	runes, lower := []rune(line), []rune(line)
	for i, r := range lower {
		lower[i] = unicode.ToLower(r)
	}
	begin := len(lower)
	for _, word := range words {
		if i := strings.Index(string(lower), strings.ToLower(word)); i >= 0 {
			begin = min(begin, utf8.RuneCountInString(string(lower)[:i]))
		}
	}
	if begin == len(lower) || begin < most-before {
		return Line(line, most)
	}
	return "…" + Line(string(runes[begin-before:]), most)
}
