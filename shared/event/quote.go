package event

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// AppendString appends a string to dst as Encode writes it, byte for byte, without what Encode allocates.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0 // what has been written
	for i := 0; i < len(s); {
		if i+8 <= len(s) && eightPlain(binary.LittleEndian.Uint64([]byte(s[i:i+8]))) {
			i += 8
			continue
		}
		for near := min(i+8, len(s)); i < near; {
			escape, size := escapeOf(s, i)
			if escape != "" {
				dst = append(append(dst, s[done:i]...), escape...)
				done = i + size
			}
			i += size
		}
	}
	return append(append(dst, s[done:]...), '"')
}

const (
	ones  = 0x0101010101010101 // times a byte: that byte eight times
	highs = 0x80 * ones
)

// eightPlain says whether none of eight bytes is a control character, a quote, a backslash or not ASCII. It is sure of plain ones; that a byte is
// taken for another because of its neighbour happens only beside one that is not plain.
func eightPlain(eight uint64) bool {
	quote, backslash := eight^('"'*ones), eight^('\\'*ones)
	return (eight|(eight-' '*ones)|(quote-ones)|(backslash-ones))&highs == 0
}

// escapeOf returns how the character at i is written, "" for as it is, and how many bytes it has.
func escapeOf(s string, i int) (string, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return escapes[c], 1
	}
	return wideEscapeOf(s[i:])
}

func wideEscapeOf(s string) (string, int) {
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`, 1
	case r == '\u2028': // a line end to JavaScript, once
		return `\u2028`, size
	case r == '\u2029':
		return `\u2029`, size
	default:
		return "", size
	}
}

// escapes is how characters of ASCII are written, "" for as they are.
var escapes = func() (as [utf8.RuneSelf]string) {
	for c := range ' ' {
		as[c] = fmt.Sprintf(`\u%04x`, c)
	}
	for i, c := range "\b\t\n\f\r\"\\" {
		as[c] = `\` + `btnfr"\`[i:i+1]
	}
	return as
}()
