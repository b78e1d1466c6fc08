package cards

import (
	"strings"
	"unicode/utf8"
)

// firstBytes returns the longest beginning of s that has at most limit bytes and ends at a character.
func firstBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

const maxSummary = 160 // bytes of a hint's summary

// summary is the beginning of a text on one line.
func summary(text string) string {
	const mark = "…"
	short := strings.Join(strings.Fields(firstBytes(text, 4*maxSummary)), " ")
	if len(short) <= maxSummary && len(text) <= 4*maxSummary {
		return short
	}
	return strings.TrimSpace(firstBytes(short, maxSummary-len(mark))) + mark
}
