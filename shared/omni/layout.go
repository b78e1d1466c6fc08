package omni

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// field is what is known of a key of a payload: its JSON name, and what the tags of the struct say of its value.
type field struct {
	name  string
	index []int
	kind  kind

	optional bool     // json:",omitempty": may be left out, and is where it is zero
	later    bool     // absent:"later": later versions leave it out; it is always written here
	null     bool     // null:"yes": null is the same as to leave it out
	filled   bool     // filled:"yes": may not be empty
	words    []string // oneof:"a,b"
	holds    string   // holds:"object|images|image_url"
	inner    reflect.Type
}

// kind is which JSON values a field takes.
type kind string

const (
	text     kind = "string"
	count    kind = "number"
	window   kind = "number or string"
	object   kind = "object"
	list     kind = "list"
	anything kind = "value"
)

var (
	rawType    = reflect.TypeFor[json.RawMessage]()
	countType  = reflect.TypeFor[Count]()
	windowType = reflect.TypeFor[ContextWindow]()
)

func kindOf(t reflect.Type) kind {
	switch {
	case t == rawType:
		return anything
	case t == countType:
		return count
	case t == windowType:
		return window
	case t.Kind() == reflect.Pointer:
		return kindOf(t.Elem())
	case t.Kind() == reflect.Struct:
		return object
	case t.Kind() == reflect.Slice:
		return list
	}
	return text
}

// layouts has the fields of every struct that a payload is made of.
var layouts = func() map[reflect.Type][]field {
	found := map[reflect.Type][]field{}
	for i := range shapes {
		layOut(found, reflect.TypeOf(shapes[i].zero))
	}
	return found
}()

// shapeFields has the fields of payloads by their shapes, the role too that all of a kind have.
var shapeFields = func() map[*Shape][]field {
	found := map[*Shape][]field{}
	for _, shape := range byKey {
		fields := layouts[reflect.TypeOf(shape.zero)]
		if shape.Role != "" {
			fields = append(slices.Clip(fields), field{name: "role", kind: text, words: []string{string(shape.Role)}})
		}
		found[shape] = fields
	}
	return found
}()

func layOut(found map[reflect.Type][]field, t reflect.Type) {
	if found[t] != nil {
		return
	}
	fields := []field{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		known := fieldOf(f)
		if known.inner != nil && known.inner.Kind() == reflect.Struct && known.inner != windowType {
			layOut(found, known.inner)
		}
		fields = append(fields, known)
	}
	found[t] = fields
}

func fieldOf(f reflect.StructField) field {
	name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	known := field{
		name: name, index: f.Index, kind: kindOf(f.Type), optional: option == "omitempty", later: f.Tag.Get("absent") == "later",
		null: f.Tag.Get("null") == "yes", filled: f.Tag.Get("filled") == "yes", holds: f.Tag.Get("holds"), inner: f.Type,
	}
	if words := f.Tag.Get("oneof"); words != "" {
		known.words = strings.Split(words, ",")
	}
	if known.holds == "object" {
		known.kind = object
	}
	if known.kind == list {
		known.inner = f.Type.Elem()
	}
	return known
}

// place returns where in fields the one of a key is, -1 if there is none.
func place(fields []field, key []byte) int {
	for i := range fields {
		if fields[i].name == string(key) {
			return i
		}
	}
	return -1
}

// Keys says in Markdown which keys the payloads of a shape have beside `type`: with a question mark those that may be absent.
func (s Shape) Keys() string {
	keys := []string{}
	if s.Role != "" {
		keys = append(keys, "`role` ("+string(s.Role)+")")
	}
	return strings.Join(append(keys, keysOf(reflect.TypeOf(s.zero))...), ", ")
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range layouts[t] {
		name := f.name
		if f.optional || f.later {
			name += "?"
		}
		key := "`" + name + "`"
		inner := layouts[f.inner]
		switch {
		case len(f.words) == 6:
			key += " (a stop reason)"
		case f.words != nil:
			key += " (" + strings.Join(f.words, ", ") + ")"
		case inner != nil:
			key += " " + string(f.kind) + " of (" + strings.Join(keysOf(f.inner), ", ") + ")"
		case f.kind != text:
			key += " " + string(f.kind)
		}
		keys = append(keys, key)
	}
	return keys
}
