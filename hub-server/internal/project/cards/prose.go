package cards

import (
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// prose is how much of a message has been shown: enough to tell whether a whole text goes on from there, and none of the text.
type prose struct {
	bytes int64  // of text so far
	hash  uint64 // FNV-1a of it
	block int    // content index of the newest piece
	links card.Rewriter
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// write counts text in.
func (p *prose) write(text string) {
	p.hash = hashOn(p.hash, p.bytes, text)
	p.bytes += int64(len(text))
}

// rest returns what whole has behind the text so far; false if whole does not begin with it.
func (p *prose) rest(whole string) (string, bool) {
	if int64(len(whole)) < p.bytes || p.bytes > 0 && hashOn(0, 0, whole[:p.bytes]) != p.hash {
		return "", false
	}
	return whole[p.bytes:], true
}

func hashOn(hash uint64, sofar int64, text string) uint64 {
	if sofar == 0 {
		hash = fnvOffset
	}
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * fnvPrime
	}
	return hash
}

// count counts text in that nothing will be compared with.
func (p *prose) count(text string) { p.bytes += int64(utf8.RuneCountInString(text)) }
