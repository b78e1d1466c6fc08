package omni

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// readFields fills a struct from an object. Keys are taken as they are written, unlike encoding/json, which takes "Text" for "text". What is not
// there stays zero.
func readFields(v reflect.Value, object []byte, path *trail) error {
	fields := layouts[v.Type()]
	for key, at := range members(object) {
		i := place(fields, key)
		if i < 0 {
			continue
		}
		if err := readValue(v.FieldByIndex(fields[i].index), at.in(object), &trail{up: path, name: fields[i].name}); err != nil {
			return err
		}
	}
	return nil
}

func readValue(v reflect.Value, value []byte, path *trail) error {
	null := string(value) == "null"
	switch {
	case v.Type() == rawType:
		v.SetBytes(value)
		return nil
	case null:
		v.SetZero()
		return nil
	case layouts[v.Type()] != nil && isKind(value, '{'):
		v.SetZero()
		return readFields(v, value, path)
	case v.Kind() == reflect.Slice && isKind(value, '['):
		return readList(v, value, path)
	case v.Kind() == reflect.String && isKind(value, '"'):
		v.SetString(unquote(value))
		return nil
	case layouts[v.Type()] != nil || v.Kind() == reflect.Slice || json.Unmarshal(value, v.Addr().Interface()) != nil:
		return fmt.Errorf("%w: %s is no %s", ErrPayload, path, kindOf(v.Type()))
	}
	return nil
}

func readList(v reflect.Value, array []byte, path *trail) error {
	n := 0
	for range elements(array) {
		n++
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i, element := range elements(array) {
		if err := readValue(v.Index(i), element, &trail{up: path, nth: i}); err != nil {
			return err
		}
	}
	return nil
}
