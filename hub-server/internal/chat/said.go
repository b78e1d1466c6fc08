package chat

import (
	"encoding/json"
	"strings"
)

// saying are the fields of a content that hold words of people, in the order in which they are read.
var saying = map[ContentType][]string{
	Text:       {"text"},
	Code:       {"code", "filename", "language"},
	Diff:       {"diff", "title", "filename"},
	Image:      {"caption", "alt"},
	File:       {"caption", "filename"},
	LinkCard:   {"title", "description", "site_name", "url"},
	DeployCard: {"title", "description", "environment", "version", "status", "url"},
}

// Said is everything that a message says in words, the names of its files included, a line for each field; "" when it was taken back.
func (m Message) Said() string {
	if m.Recalled {
		return ""
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(m.Content, &fields) != nil {
		return ""
	}
	var said strings.Builder
	for _, name := range saying[m.ContentType] {
		if words, ok := stringOf(fields[name]); ok {
			said.WriteString(words)
			said.WriteByte('\n')
		}
	}
	for _, a := range m.Attachments {
		said.WriteString(a.Filename)
		said.WriteByte('\n')
	}
	return said.String()
}
