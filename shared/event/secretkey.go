package event

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// secretWords are what S2 refuses in the names of keys (R19), without their separators.
var secretWords = []string{"apikey", "authorization", "cookie", "password", "reasoning", "secret", "token"}

// opaqueKeys hold what is somebody else's: a tool's words, a provider's. Their names are their own; only known secret values are taken out.
var opaqueKeys = []string{"arguments", "result", "usage", "fidelity", "block"}

// SecretKey says whether a key of ours may not have that name, since it sounds like a secret: "api_key", "X-Api-Key", "accessToken".
func SecretKey(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name))
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// WithoutSecretKeys returns a JSON value without the members, at any depth, whose names sound like a secret, and those names in their order. A
// member that can only count is no secret ("input_tokens": 12), and what is opaque is left alone. Without such a member the bytes are those
// that came. value must be valid JSON.
func WithoutSecretKeys(value json.RawMessage) (clean json.RawMessage, dropped []string) {
	clean = withoutSecretKeys(value, &dropped)
	if len(dropped) == 0 {
		return value, nil
	}
	return clean, dropped
}

func withoutSecretKeys(value json.RawMessage, dropped *[]string) json.RawMessage {
	trimmed := bytes.TrimSpace(value)
	if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
		return value
	}
	d := json.NewDecoder(bytes.NewReader(trimmed))
	d.Token() //nolint:errcheck // the value is valid
	object := trimmed[0] == '{'
	out := []byte{trimmed[0]}
	for d.More() {
		var key string
		var member json.RawMessage
		if object {
			t, _ := d.Token() //nolint:errcheck // the value is valid
			key, _ = t.(string)
		}
		if d.Decode(&member) != nil {
			return value
		}
		if object && SecretKey(key) && !counts(member) {
			*dropped = append(*dropped, key)
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if object {
			out = append(appendString(out, key), ':')
		}
		if !object || !slices.Contains(opaqueKeys, key) {
			member = withoutSecretKeys(member, dropped)
		}
		out = append(out, member...)
	}
	return append(out, trimmed[len(trimmed)-1])
}

// counts says whether a value is a number, null, or an object of those: how many, not which.
func counts(value json.RawMessage) bool {
	var number *float64
	var numbers map[string]*float64
	return json.Unmarshal(value, &number) == nil || json.Unmarshal(value, &numbers) == nil
}
