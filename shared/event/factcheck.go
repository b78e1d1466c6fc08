package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// CheckFact says what is wrong with the payload of a fact that has a decided shape: a value of another kind, a needed one that is not there, a
// word that its field does not have, fields that contradict each other. Other facts are right, and so are keys that are not known. It is for those who write agents: a log takes
// the fact as it came.
func CheckFact(t Type, payload json.RawMessage) error {
	shape := agentFactOf(t)
	if shape == nil {
		return nil
	}
	said := reflect.New(reflect.TypeOf(shape))
	if err := json.Unmarshal(payload, said.Interface()); err != nil {
		return fmt.Errorf("read the payload: %w", err)
	}
	if err := checkFields(said.Elem(), payload); err != nil {
		return err
	}
	if whole, ok := said.Elem().Interface().(breacher); ok {
		given, err := keysOf(payload)
		if err != nil {
			return err
		}
		return whole.breach(given)
	}
	return nil
}

// breacher is a payload whose fields say something about each other, which breach holds them to. given are the keys as they were said.
type breacher interface{ breach(given keys) error }

type keys map[string]json.RawMessage

func keysOf(raw json.RawMessage) (keys, error) {
	var given keys
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, fmt.Errorf("read the payload: %w", err)
	}
	return given, nil
}

func checkFields(said reflect.Value, raw json.RawMessage) error {
	given, err := keysOf(raw)
	if err != nil {
		return err
	}
	for i := range said.NumField() {
		field := said.Type().Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if option == "" && missing(given[name]) {
			return fmt.Errorf("%s is missing", name)
		}
		if err := checkField(field, said.Field(i), given[name]); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	return nil
}

func missing(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == `""`
}

func checkField(field reflect.StructField, said reflect.Value, raw json.RawMessage) error {
	switch said.Kind() {
	case reflect.String:
		words := field.Tag.Get("oneof")
		if text := said.String(); words != "" && text != "" && !slices.Contains(strings.Split(words, ","), text) {
			return fmt.Errorf("is %.40q, which is none of %s", text, words)
		}
	case reflect.Float64:
		if share := said.Float(); field.Tag.Get("share") != "" && (share < 0 || share > 1) {
			return fmt.Errorf("is %g, which is not from 0 to 1", share)
		}
	case reflect.Slice:
		return checkEach(said, raw)
	}
	return nil
}

// checkEach looks into a list of objects.
func checkEach(said reflect.Value, raw json.RawMessage) error {
	if said.Type().Elem().Kind() != reflect.Struct || said.Len() == 0 {
		return nil
	}
	var each []json.RawMessage
	if err := json.Unmarshal(raw, &each); err != nil {
		return fmt.Errorf("is no list: %w", err)
	}
	for i := range said.Len() {
		if err := checkFields(said.Index(i), each[i]); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}
