package backup

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A value that JSON has no form for is an object with one of these.
type (
	binary struct {
		Bytes []byte `json:"bytes"`
	}
	rawText struct { // text that is not UTF-8
		Text []byte `json:"text"`
	}
	wrapped struct {
		Bytes *[]byte `json:"bytes"`
		Text  *[]byte `json:"text"`
	}
)

// portable gives a value of a database the form that it has in a backup.
func portable(v any) (any, error) {
	switch v := v.(type) {
	case nil, int64, bool:
		return v, nil
	case string:
		if !utf8.ValidString(v) {
			return rawText{[]byte(v)}, nil
		}
		return v, nil
	case []byte:
		return binary{append([]byte{}, v...)}, nil
	}
	return nil, fmt.Errorf("a value of type %T has no place in a backup", v)
}

// valueOf is the reverse of portable.
func valueOf(raw json.RawMessage) (any, error) {
	switch {
	case len(raw) == 0:
		return nil, fmt.Errorf("a value is missing")
	case raw[0] == 'n':
		return nil, nil
	case raw[0] == 't', raw[0] == 'f':
		return raw[0] == 't', nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case raw[0] == '{':
		return unwrap(raw)
	}
	return strconv.ParseInt(string(raw), 10, 64)
}

func unwrap(raw json.RawMessage) (any, error) {
	var w wrapped
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	switch {
	case w.Bytes != nil && w.Text == nil:
		return *w.Bytes, nil
	case w.Text != nil && w.Bytes == nil:
		return string(*w.Text), nil
	}
	return nil, fmt.Errorf("%s is no value", raw)
}
