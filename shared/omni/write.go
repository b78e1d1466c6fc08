package omni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// writer puts a message together. What it writes is valid JSON on one line.
type writer struct {
	out  []byte
	deep bool // there are values of somebody else in it, which may nest
}

// writers are those that nobody uses, with their room.
var writers = sync.Pool{New: func() any { return new(writer) }}

// maxRoom is how much room is kept for later: few messages need more.
const maxRoom = 64 << 10

func (w *writer) free() {
	if cap(w.out) <= maxRoom {
		w.out, w.deep = w.out[:0], false
		writers.Put(w)
	}
}

// bounded holds what was written to the bounds of a message.
func (w *writer) bounded() error {
	if !w.deep && len(w.out) <= MaxBytes {
		return nil
	}
	return bounded(w.out)
}

// payload writes a payload: its type, the role that all of its kind have, its fields in their order.
func (w *writer) payload(p Payload) error {
	key := p.shape()
	w.out = append(w.out, '{')
	if key.Type != "" {
		w.out = append(append(append(w.out, `"type":"`...), key.Type...), '"')
	}
	if role := byKey[key].Role; role != "" {
		w.out = append(append(append(w.out, `,"role":"`...), role...), '"')
	}
	return w.fields(reflect.ValueOf(p))
}

// fields writes the fields of a struct into an object that is open, and closes it.
func (w *writer) fields(v reflect.Value) error {
	known := layouts[v.Type()]
	for i := range known {
		f := &known[i]
		value := v.FieldByIndex(f.index)
		if f.optional && empty(value) {
			continue
		}
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		w.out = append(append(append(w.out, '"'), f.name...), `":`...)
		if err := w.value(value); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func empty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

func (w *writer) value(v reflect.Value) error {
	switch {
	case v.Kind() == reflect.String:
		w.out = event.AppendString(w.out, v.String())
	case v.Type() == rawType:
		return w.raw(v.Bytes())
	case v.Kind() == reflect.Pointer:
		return w.value(v.Elem())
	case v.Type() == countType:
		w.out = strconv.AppendInt(w.out, v.Int(), 10)
	case v.Type() == windowType:
		encoded, err := event.Encode(v.Interface())
		w.out = append(w.out, encoded...)
		return err
	case v.Kind() == reflect.Struct:
		w.out = append(w.out, '{')
		return w.fields(v)
	default:
		return w.list(v)
	}
	return nil
}

func (w *writer) list(v reflect.Value) error {
	w.out = append(w.out, '[')
	for i := range v.Len() {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(v.Index(i)); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	w.out = append(w.out, ']')
	return nil
}

// raw writes a value of somebody else. Line ends between its parts become spaces, since a message is one line; nothing else of it changes.
func (w *writer) raw(value json.RawMessage) error {
	value, err := event.Encode(json.RawMessage(bytes.TrimSpace(value)))
	if err != nil {
		return err
	}
	w.deep = true
	from := len(w.out)
	w.out = append(w.out, value...)
	for i, c := range w.out[from:] {
		if c == '\n' || c == '\r' {
			w.out[from+i] = ' '
		}
	}
	return nil
}
