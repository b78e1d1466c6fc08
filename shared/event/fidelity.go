package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Fidelity is what a provider attached to a piece of content and wants back byte for byte when the content is sent to it again (S1, 保真字段).
// It is opaque: Encode writes it as it came, spaces too.
type Fidelity struct {
	Fidelity Opaque `json:"fidelity,omitempty"` // an object
	// FidelityDropped says why there was one that is not here (R18).
	FidelityDropped FidelityLoss `json:"fidelity_dropped,omitempty"`
}

// Opaque is JSON as it was written, or "" for none. It is a string so that payloads that have one can be compared.
type Opaque string

// MarshalJSON writes it as it is; an encoder of what is around it takes its spaces out, but for Encode.
func (o Opaque) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return []byte(o), nil
}

// UnmarshalJSON keeps the bytes.
func (o *Opaque) UnmarshalJSON(value []byte) error {
	if *o = Opaque(value); *o == "null" {
		*o = ""
	}
	return nil
}

// FidelityLoss is why a fidelity was not kept: a changed one is worth nothing.
type FidelityLoss string

// Reasons for the loss of a fidelity.
const (
	FidelityHadSecret FidelityLoss = "secret"    // a secret value of the edge was in it
	FidelityTooLarge  FidelityLoss = "too_large" // more than MaxFidelity
	FidelityMalformed FidelityLoss = "malformed" // no JSON object, too deep, or not UTF-8
)

// MaxFidelity is how many bytes a fidelity has at most: it shares a row with what it belongs to.
const MaxFidelity = 96 << 10

// NewFidelity keeps raw, or says why it cannot; nothing of nothing.
func NewFidelity(raw json.RawMessage) Fidelity {
	raw = bytes.Trim(raw, " \t\r\n")
	switch {
	case len(raw) == 0, string(raw) == "null":
		return Fidelity{}
	case len(raw) > MaxFidelity:
		return Fidelity{FidelityDropped: FidelityTooLarge}
	case !json.Valid(raw), raw[0] != '{', Depth(raw) > MaxValueDepth, !utf8.Valid(raw):
		return Fidelity{FidelityDropped: FidelityMalformed}
	}
	return Fidelity{Fidelity: Opaque(raw)}
}

// IsZero says whether nothing is to be said of a fidelity.
func (f Fidelity) IsZero() bool { return len(f.Fidelity) == 0 && f.FidelityDropped == "" }

// Keeping is a payload, or a line, in which some bytes have to stay as they are: Encode writes rest and then the value under its key. rest has at
// least one key, and value is valid JSON or empty.
type Keeping interface {
	Keep() (rest any, key string, value Opaque)
}

const fidelityKey = "fidelity"

// Keep is for Encode.
func (p DeltaPayload) Keep() (rest any, key string, value Opaque) {
	value, p.Fidelity.Fidelity = p.Fidelity.Fidelity, ""
	return p, fidelityKey, value
}

// Keep is for Encode.
func (p MessageCompletedPayload) Keep() (rest any, key string, value Opaque) {
	value, p.Fidelity.Fidelity = p.Fidelity.Fidelity, ""
	return p, fidelityKey, value
}

// Keep is for Encode.
func (p ToolStartedPayload) Keep() (rest any, key string, value Opaque) {
	value, p.Fidelity.Fidelity = p.Fidelity.Fidelity, ""
	return p, fidelityKey, value
}

// splice writes a value that stays as it is behind the keys of an object.
func splice(object json.RawMessage, key string, value Opaque) (json.RawMessage, error) {
	if !json.Valid([]byte(value)) {
		return nil, fmt.Errorf("%w: %s is not JSON", ErrRow, key)
	}
	out := make(json.RawMessage, 0, len(object)+len(key)+len(value)+len(`,"":`))
	out = append(append(append(append(out, object[:len(object)-1]...), `,"`...), key...), `":`...)
	return append(append(out, strings.ToValidUTF8(string(value), "\uFFFD")...), '}'), nil
}
