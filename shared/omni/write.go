package omni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// appendPayload writes a payload: its type, the role that all of its kind have, its fields in their order.
func appendPayload(out []byte, p Payload) ([]byte, error) {
	key := p.shape()
	out = append(out, '{')
	if key.Type != "" {
		out = append(append(append(out, `"type":"`...), key.Type...), '"')
	}
	if role := byKey[key].Role; role != "" {
		out = append(append(append(out, `,"role":"`...), role...), '"')
	}
	return appendFields(out, reflect.ValueOf(p))
}

// appendFields writes the fields of a struct into an object that is open, and closes it.
func appendFields(out []byte, v reflect.Value) ([]byte, error) {
	for _, f := range layouts[v.Type()] {
		value := v.FieldByIndex(f.index)
		if f.optional && empty(value) {
			continue
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.name...), `":`...)
		var err error
		if out, err = appendValue(out, value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return append(out, '}'), nil
}

func empty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

func appendValue(out []byte, v reflect.Value) ([]byte, error) {
	switch {
	case v.Type() == rawType:
		return appendRaw(out, v.Bytes())
	case v.Kind() == reflect.Pointer:
		return appendValue(out, v.Elem())
	case v.Type() == countType:
		return strconv.AppendInt(out, v.Int(), 10), nil
	case v.Type() == windowType, v.Kind() == reflect.String:
		encoded, err := event.Encode(v.Interface())
		return append(out, encoded...), err
	case v.Kind() == reflect.Struct:
		return appendFields(append(out, '{'), v)
	}
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, v.Index(i)); err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
	}
	return append(out, ']'), nil
}

// appendRaw writes a value of somebody else. Line ends between its parts become spaces, since a message is one line; nothing else of it changes.
func appendRaw(out []byte, value json.RawMessage) ([]byte, error) {
	value, err := event.Encode(json.RawMessage(bytes.TrimSpace(value)))
	if err != nil {
		return nil, err
	}
	from := len(out)
	out = append(out, value...)
	for i, c := range out[from:] {
		if c == '\n' || c == '\r' {
			out[from+i] = ' '
		}
	}
	return out, nil
}
