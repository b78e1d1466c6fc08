package runlog

import (
	"strings"
	"unicode/utf8"
)

// Bounds of what an edge may put beside a run, in bytes.
const (
	maxCode   = 64
	maxReason = 4 << 10
	maxLabel  = 255
)

const ellipsis = "\n\n… (the rest is in the run's log)"

func fitsLabel(s string) bool { return s != "" && len(s) <= maxLabel && !strings.Contains(s, "\x00") }

// shorten makes a text fit into a message of the conversation.
func shorten(text string) string {
	text = storable(text)
	if len(text) <= maxSaid {
		return text
	}
	return cutText(text, maxSaid-len(ellipsis)) + ellipsis
}

// storable replaces what one of the stores refuses in a text: an agent may well print a NUL.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// remark is a storable text of at most limit bytes.
func remark(text string, limit int) string { return cutText(storable(text), limit) }

// cutText returns the longest prefix that has at most limit bytes and ends at a character.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
