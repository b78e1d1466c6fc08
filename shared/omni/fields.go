package omni

import (
	"reflect"
	"slices"
)

// Field is a key of a payload and what its value has to be, for those who write the shapes in another language.
type Field struct {
	Name     string
	Kind     string   // string, number (whole, from 0 to MaxCount), number or string, object, list, value
	Optional bool     // it may be absent
	Later    bool     // later versions leave it out
	Null     bool     // null is the same as to leave it out
	Filled   bool     // it may not be empty
	Words    []string // one of these, if there are any
	Holds    string   // of a string or a list: image_url or images, which Validate looks into
	Of       string   // the name of the shape that an object, or each element of a list, has
	Elements string   // of a list: the kind of its elements
	Fields   []Field  // of Of
}

// Name is what the shape is called: TextPayload.
func (s Shape) Name() string { return reflect.TypeOf(s.zero).Name() }

// Fields lists the keys of the shape's payloads in their order, without `type` and a role that all of them have.
func (s Shape) Fields() []Field { return fieldsOf(reflect.TypeOf(s.zero)) }

func fieldsOf(t reflect.Type) []Field {
	all := make([]Field, 0, len(layouts[t]))
	for _, f := range layouts[t] {
		known := Field{
			Name: f.name, Kind: string(f.kind), Optional: f.optional, Later: f.later, Null: f.null, Filled: f.filled,
			Words: slices.Clone(f.words), Holds: f.holds,
		}
		if f.kind == list {
			known.Elements = string(kindOf(f.inner))
		}
		if layouts[f.inner] != nil {
			known.Of, known.Fields = f.inner.Name(), fieldsOf(f.inner)
		}
		all = append(all, known)
	}
	return all
}
