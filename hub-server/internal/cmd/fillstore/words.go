package main

import (
	"math/rand/v2"

	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
)

const (
	vocabulary  = 50_000
	commonWords = 1.1 // exponent of how much more common the common words are
	leastWords  = 4   // of a message
	mostWords   = 14
)

func newRandom(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// wordOf is the n-th word of the vocabulary, the most common first. Each tenth is Chinese.
func wordOf(n int) string {
	if n%10 == 9 {
		const first, many = 0x4e00, 2000
		return string([]rune{rune(first + n%many), rune(first + (n/7)%many)})
	}
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var word []byte
	for rest := n + 100; rest > 0; rest /= len(consonants) * len(vowels) {
		syllable := rest % (len(consonants) * len(vowels))
		word = append(word, consonants[syllable/len(vowels)], vowels[syllable%len(vowels)])
	}
	return string(word)
}

// lexicon has the words with what the index knows them by.
type lexicon struct {
	words [vocabulary]string
	terms [vocabulary][]int32 // places in hashes
	hash  []search.Term
}

func newLexicon() *lexicon {
	l, known := &lexicon{}, map[search.Term]int32{}
	for n := range l.words {
		l.words[n] = wordOf(n)
		for _, term := range search.TermsOf(l.words[n]) {
			place, ok := known[term]
			if !ok {
				place = int32(len(l.hash))
				known[term], l.hash = place, append(l.hash, term)
			}
			l.terms[n] = append(l.terms[n], place)
		}
	}
	return l
}
