package omni

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// span is where a value stands in the bytes that it was found in.
type span struct{ from, to int }

// in is the value itself.
func (s span) in(b []byte) []byte { return b[s.from:s.to:s.to] }

// members yields the members of object in their order: the key as it reads, which must not be changed, and where the value stands. object is valid
// JSON, and an object.
func members(object []byte) iter.Seq2[[]byte, span] {
	return func(yield func([]byte, span) bool) {
		for i := space(object, space(object, 0)+1); object[i] != '}'; {
			keyEnd := stringEnd(object, i)
			from := space(object, space(object, keyEnd)+1) // behind the colon
			to := valueEnd(object, from)
			if !yield(said(object[i:keyEnd]), span{from, to}) {
				return
			}
			i = next(object, to)
		}
	}
}

// elements yields the elements of array with their places in it. array is valid JSON, and an array.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		n := 0
		for i := space(array, space(array, 0)+1); array[i] != ']'; n++ {
			to := valueEnd(array, i)
			if !yield(n, span{i, to}.in(array)) {
				return
			}
			i = next(array, to)
		}
	}
}

// next returns where the element or key begins that follows a value which ends at i, or where the list or object ends.
func next(b []byte, i int) int {
	i = space(b, i)
	if b[i] == ',' {
		i = space(b, i+1)
	}
	return i
}

// valueOf returns the value of a key, nil if there is none. Of a key that is there twice the last one counts, as for other readers.
func valueOf(object []byte, key string) []byte {
	var found []byte
	for k, at := range members(object) {
		if string(k) == key {
			found = at.in(object)
		}
	}
	return found
}

// space returns the place of the first byte from i on that is no white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the place behind the string that begins at i.
func stringEnd(b []byte, i int) int {
	for from := i + 1; ; {
		i = from + bytes.IndexByte(b[from:], '"')
		backslashes := 0
		for b[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i + 1
		}
		from = i + 1
	}
}

// valueEnd returns the place behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || !ends(b, i+1) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// ends says whether a number or a word ends before i.
func ends(b []byte, i int) bool { return i == len(b) || strings.IndexByte(",]} \t\r\n", b[i]) >= 0 }

// unquote returns the text of a JSON string.
func unquote(quoted []byte) string { return string(said(quoted)) }

// said is the text of a JSON string, in its own bytes where nothing in it is escaped.
func said(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return inside(quoted)
	}
	var text string
	_ = json.Unmarshal(quoted, &text) //nolint:errcheck // it is a valid string
	return []byte(text)
}

// isKind says whether value, which is valid JSON, begins like an object '{', a list '[' or a string '"'.
func isKind(value []byte, first byte) bool { return len(value) > 0 && value[0] == first }
