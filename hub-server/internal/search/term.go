package search

import (
	"hash/fnv"
	"slices"
)

// Term is the 64-bit FNV-1a hash of what is looked up in the index: a folded word, or one or two neighbouring characters of a text without
// spaces. It is stored. Different words may have one hash: whatever the index gives is held against the text.
type Term int64

func termOf(text string) Term {
	h := fnv.New64a()
	h.Write([]byte(text)) //nolint:errcheck // a hash takes everything
	return Term(h.Sum64())
}

// TermsOf gives everything by which a text is found, ascending, each once.
func TermsOf(text string) []Term {
	var terms []Term
	split(text, func(part string, k kind) {
		if k == word {
			terms = append(terms, termOf(part))
			return
		}
		for _, character := range part {
			terms = append(terms, termOf(string(character)))
		}
		pairs(part, func(pair string) { terms = append(terms, termOf(pair)) })
	})
	slices.Sort(terms)
	return slices.Compact(terms)
}
