package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// Limits of a query.
const (
	MaxQuery = 200 // characters
	MaxWords = 16
	maxTerms = 8 // that are looked up in the index; the text is held against all words
)

// Query is what somebody looks for: a message must have all of it.
type Query struct {
	words     []string // that stand in a text as whole words
	stretches []string // that stand in a text somewhere
}

// Parse reads what somebody typed; InvalidRequest if there is nothing to look for, or too much.
func Parse(text string) (Query, error) {
	var q Query
	if utf8.RuneCountInString(text) > MaxQuery {
		return q, fault.New(fault.InvalidRequest, "q has more than %d characters. Look for a few words of the message.", MaxQuery)
	}
	split(text, func(part string, k kind) {
		into := &q.words
		if k == stretch {
			into = &q.stretches
		}
		if !slices.Contains(*into, part) {
			*into = append(*into, part)
		}
	})
	switch n := len(q.words) + len(q.stretches); {
	case n == 0:
		return q, fault.New(fault.InvalidRequest, "q has no word to look for. Give at least one letter or digit.")
	case n > MaxWords:
		return q, fault.New(fault.InvalidRequest, "q has more than %d words. Look for a few words of the message.", MaxWords)
	}
	return q, nil
}

// terms are what the index is asked for, at most maxTerms: the longest words first, for they are the rarest.
func (q Query) terms() []Term {
	var texts []string
	for _, s := range q.stretches {
		alone := len(texts)
		pairs(s, func(pair string) { texts = append(texts, pair) })
		if len(texts) == alone {
			texts = append(texts, s)
		}
	}
	words := slices.Clone(q.words)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	texts = append(words, texts...)
	var terms []Term
	for _, t := range texts {
		if term := termOf(t); len(terms) < maxTerms && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// in says whether a text has all of it.
func (q Query) in(text string) bool {
	words, stretches := make([]bool, len(q.words)), make([]bool, len(q.stretches))
	split(text, func(part string, k kind) {
		if k == word {
			if i := slices.Index(q.words, part); i >= 0 {
				words[i] = true
			}
			return
		}
		for i, s := range q.stretches {
			stretches[i] = stretches[i] || strings.Contains(part, s)
		}
	})
	return !slices.Contains(words, false) && !slices.Contains(stretches, false)
}
