package event

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Text returns the value of a JSON string, and false for any other value. raw has been read as JSON before, so that most strings need no
// second look: an agent's words are read one small line at a time.
func Text(raw json.RawMessage) (string, bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : n-1]), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil && !bytes.Equal(raw, []byte("null"))
}
