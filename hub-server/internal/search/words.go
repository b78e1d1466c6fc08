package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// unspaced are the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul, unicode.Yi, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// prolonged is the sign that makes the vowel before it long: it belongs to the word, and to no script.
const prolonged = 'ー'

// kind is what a character is part of.
type kind uint8

const (
	gap     kind = iota // between words
	word                // of a word that ends at a gap
	stretch             // of a stretch of text without gaps, such as Chinese
)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return word
		}
		return gap
	case r == prolonged || unicode.In(r, unspaced...):
		return stretch
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
		return word
	}
	return gap
}

// fold makes texts alike that people take for the same: compatibility forms, such as full-width letters, and upper and lower case.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// split gives the words and the stretches of a text, folded, in their order.
func split(text string, each func(part string, k kind)) {
	text = fold(text)
	begin, current := 0, gap
	for i, r := range text {
		k := kindOf(r)
		if k == current {
			continue
		}
		if current != gap {
			each(text[begin:i], current)
		}
		begin, current = i, k
	}
	if current != gap {
		each(text[begin:], current)
	}
}

// pairs gives each two neighbouring characters of a stretch; nothing for a stretch of one.
func pairs(s string, each func(pair string)) {
	before := -1 // where the character before begins
	for i, r := range s {
		if before >= 0 {
			each(s[before : i+utf8.RuneLen(r)])
		}
		before = i
	}
}
