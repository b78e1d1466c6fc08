package fanload

import (
	"bytes"
	"fmt"
	"strings"
)

// payloadSize is how many bytes every message has that is published, whatever a protocol wraps around it.
const payloadSize = 250

// A stamp stands at the beginning of a payload: the mark, when it was published in Unix nanoseconds, by which publisher, and the how manieth it
// is of that publisher's. All characters mean themselves in JSON, also in JSON inside a JSON string.
const (
	mark       = "~t"
	timeDigits = 19
	byDigits   = 2
	nthDigits  = 9
	stampSize  = len(mark) + timeDigits + byDigits + nthDigits
)

const maxPublishers = 32

// stamped is what a stamp says.
type stamped struct {
	at  int64 // Unix nanoseconds
	by  int
	nth uint32 // from 1
}

// filler is the rest of a payload.
var filler = strings.Repeat("the rest is what an agent says. ", payloadSize/32+1)[:payloadSize-stampSize]

// payload is a message of payloadSize bytes.
func (s stamped) payload() string {
	return fmt.Sprintf("%s%0*d%0*d%0*d%s", mark, timeDigits, s.at, byDigits, s.by, nthDigits, s.nth, filler)
}

// nextStamp finds the first stamp in text and returns what is behind its payload; false if there is none.
func nextStamp(text []byte) (s stamped, rest []byte, ok bool) {
	i := bytes.Index(text, []byte(mark))
	if i < 0 || len(text)-i < payloadSize {
		return s, nil, false
	}
	digits := text[i+len(mark):]
	s.at = number(digits[:timeDigits])
	s.by = int(number(digits[timeDigits:][:byDigits]))
	s.nth = uint32(number(digits[timeDigits+byDigits:][:nthDigits])) //nolint:gosec // nine digits
	return s, text[i+payloadSize:], s.by < maxPublishers
}

// number reads digits.
func number(digits []byte) (n int64) {
	for _, d := range digits {
		n = n*10 + int64(d-'0')
	}
	return n
}
