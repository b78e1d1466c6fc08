package event

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode is the one encoder of payloads: compact, `<` and `>` left alone, no line end, always valid UTF-8. What it returns is final: it
// is stored, hashed and sent as it is. A json.RawMessage is returned unchanged if it is valid JSON, and so is the value that a Keeping keeps.
func Encode(payload any) (json.RawMessage, error) {
	if raw, ok := payload.(json.RawMessage); ok {
		if !json.Valid(raw) {
			return nil, fmt.Errorf("%w: payload is not JSON", ErrRow)
		}
		return bytes.ToValidUTF8(raw, []byte("\uFFFD")), nil
	}
	if with, ok := payload.(Keeping); ok {
		if rest, key, value := with.Keep(); len(value) > 0 {
			object, err := encodeWhole(rest)
			if err != nil {
				return nil, err
			}
			return splice(object, key, value)
		}
	}
	return encodeWhole(payload)
}

func encodeWhole(payload any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(payload); err != nil {
		return nil, fmt.Errorf("encode %T: %w", payload, err)
	}
	// Raw values inside payload are copied without a look at their bytes.
	return bytes.ToValidUTF8(bytes.TrimSuffix(buf.Bytes(), []byte("\n")), []byte("\uFFFD")), nil
}
