package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Checksum returns the hex SHA-256 of a canonical copy of value: keys sorted, no spaces, numbers spelled as they were, strings with no
// escape that JSON does not require, other characters as UTF-8 (S2). Of a repeated key the last value counts.
func Checksum(value json.RawMessage) (string, error) {
	canonical, err := Canonical(value)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// TextChecksum returns the hex SHA-256 of the UTF-8 bytes of text: content_checksum of a message.
func TextChecksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Canonical returns the copy of value that Checksum hashes.
func Canonical(value json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("canonical form: more than one value")
	}
	return appendCanonical(nil, v), nil
}

func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		return appendObject(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, item)
		}
		return append(dst, ']')
	case string:
		return appendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case bool:
		return fmt.Append(dst, v)
	default:
		return append(dst, "null"...)
	}
}

func appendObject(dst []byte, object map[string]any) []byte {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, key), ':')
		dst = appendCanonical(dst, object[key])
	}
	return append(dst, '}')
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		default:
			dst = appendControl(dst, c)
		}
	}
	return append(dst, '"')
}

func appendControl(dst []byte, c byte) []byte {
	const short = "\b\t\n\f\r"
	if i := bytes.IndexByte([]byte(short), c); i >= 0 {
		return append(dst, '\\', "btnfr"[i])
	}
	return fmt.Appendf(dst, `\u%04x`, c)
}
