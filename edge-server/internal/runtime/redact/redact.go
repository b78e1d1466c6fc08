// Package redact keeps known secret values from leaving the edge (SEC23, R18): exactly those values, plain, in base64, percent-encoded, in hex
// and as JSON spells them, also when they are cut over chunks. What replaces one is the same word everywhere.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// Redactor knows the secrets of one run. One without secrets changes nothing. Safe for concurrent use.
type Redactor struct {
	needles [][]byte // longest first
	longest int
}

// New returns a Redactor for the values. Empty ones are ignored.
func New(secrets []string) *Redactor {
	r := &Redactor{}
	for _, secret := range secrets {
		if secret != "" {
			r.needles = append(r.needles, spellings(secret)...)
		}
	}
	slices.SortFunc(r.needles, func(a, b []byte) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return bytes.Compare(a, b)
	})
	r.needles = slices.CompactFunc(r.needles, bytes.Equal)
	if len(r.needles) > 0 {
		r.longest = len(r.needles[0])
	}
	return r
}

// Idle says whether there is nothing to look for.
func (r *Redactor) Idle() bool { return len(r.needles) == 0 }

// String returns s without secrets.
func (r *Redactor) String(s string) string {
	if r.Idle() || s == "" {
		return s
	}
	if !r.in(s) {
		return s
	}
	// In pieces, as each push copies its own a few times.
	stream := r.Stream()
	var clean strings.Builder
	clean.Grow(len(s))
	for len(s) > chunkSize {
		clean.WriteString(stream.Push(s[:chunkSize]))
		s = s[chunkSize:]
	}
	clean.WriteString(stream.Push(s))
	clean.WriteString(stream.Flush())
	return clean.String()
}

// in says whether s holds a secret.
func (r *Redactor) in(s string) bool {
	return slices.ContainsFunc(r.needles, func(needle []byte) bool { return strings.Contains(s, string(needle)) })
}

// JSON returns a JSON value without secrets in its strings and keys. Every byte outside of a string that held one stays as it is. What is no
// JSON is treated as text.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if r.Idle() || len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return json.RawMessage(r.String(string(raw)))
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := i + literal(raw[i:])
		out = append(out, r.literal(raw[i:end])...)
		i = end
	}
	return out
}

// literal returns the length of the string literal that begins s, quotes included.
func literal(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func (r *Redactor) literal(quoted []byte) []byte {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return quoted // not reached: the whole value was valid
	}
	clean := r.String(text)
	if clean == text {
		return quoted
	}
	encoded, err := event.Encode(clean)
	if err != nil {
		return []byte(`"` + Mask + `"`)
	}
	return encoded
}
