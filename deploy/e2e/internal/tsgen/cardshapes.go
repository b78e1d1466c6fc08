package tsgen

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

// shapes writes interfaces for Go structs, each once, with the names that JSON has.
type shapes struct {
	*page
	known []reflect.Type // in the order in which they were named
}

// tables says which interface belongs to which word.
func (s *shapes) tables() {
	s.table("CardActions", "What events carry, by action: of card.add and card.set the payload of the card's kind.", actions,
		`"card.add": CardPayloads[CardKind];`, `"card.set": CardPayloads[CardKind];`)
	s.table("CardPayloads", "The payload of a card, by its kind (S0 §10).", kinds)
	s.table("CardTicks", "What a tick tells, by its kind (S0 §11).", ticks)
	s.table("CardSessionTells", "What a session.event tells, by its kind (S0 §8).", tells)
	s.table("CardPromptInners", "What is asked, by the kind of the question (S0 §7.1).", asks)
}

func (s *shapes) table(name, doc string, entries []shape, more ...string) {
	s.comment("", doc)
	s.line("export interface %s {", name)
	for _, line := range more {
		s.line("  %s", line)
	}
	for _, entry := range entries {
		s.line("  %q: %s;", entry.word, s.typeOf(reflect.TypeOf(entry.body)))
	}
	s.line("}\n")
}

// frames writes what a client may say. The type of each is what it is written with.
func (s *shapes) frames() {
	s.comment("", "What a client may say on /v1/ws (S0 §9).")
	s.line("export type CardFrame =")
	for i, frame := range cardFrames {
		line, err := card.EncodeFrame(frame, "")
		var head struct{ Type string }
		if err != nil || json.Unmarshal(line, &head) != nil {
			panic(fmt.Sprintf("%T cannot be written", frame)) // a fault of this package: they are constants
		}
		end := ""
		if i == len(cardFrames)-1 {
			end = ";"
		}
		s.line("  | ({ type: %q } & %s)%s", head.Type, s.typeOf(reflect.TypeOf(frame)), end)
	}
	s.line("")
}

// all writes every interface that was named, and those that they name.
func (s *shapes) all() {
	s.typeOf(reflect.TypeFor[card.Envelope]())
	s.typeOf(reflect.TypeFor[card.Hint]())
	s.typeOf(reflect.TypeFor[card.Metrics]())
	for i := 0; i < len(s.known); i++ { //nolint:intrange // it grows
		s.line("export interface %s {", nameOf(s.known[i]))
		for _, f := range fieldsOf(s.known[i]) {
			mark := ""
			if f.optional {
				mark = "?"
			}
			s.line("  %s%s: %s;", f.name, mark, s.typeOf(f.Type))
		}
		s.line("}\n")
	}
}

// checks writes what a reader holds what it reads against: a field that has another form makes the whole unreadable, as it does in Go.
func (s *shapes) checks() {
	read := &shapes{page: &page{}}
	for _, entry := range slices.Concat(actions, tells, []shape{{nil, card.Envelope{}}, {nil, card.Hint{}}, {nil, card.Metrics{}}}) {
		read.typeOf(reflect.TypeOf(entry.body))
	}
	s.comment("", "The form of what a hub says, by field. What is absent, null or not named here fits.")
	s.line("export const CARD_SHAPES = {")
	for i := 0; i < len(read.known); i++ { //nolint:intrange // it grows
		var all []string
		for _, f := range fieldsOf(read.known[i]) {
			read.typeOf(f.Type)
			all = append(all, fmt.Sprintf("%s: %q", f.name, formOf(f.Type)))
		}
		s.line("  %s: { %s },", nameOf(read.known[i]), strings.Join(all, ", "))
	}
	s.line("} as const;\n")
}

// typeOf is the TypeScript type of a Go type. A struct is remembered, to be written.
func (s *shapes) typeOf(t reflect.Type) string {
	switch form := formOf(t); {
	case t.Kind() == reflect.Pointer:
		return s.typeOf(t.Elem())
	case form == "time":
		return "string"
	case form == "integer":
		return "number"
	case form == "map":
		return "Record<string, " + s.typeOf(t.Elem()) + ">"
	case strings.HasSuffix(form, "[]"):
		return s.typeOf(t.Elem()) + "[]"
	case form == "string" && isWord(t):
		return nameOf(t)
	case t.Kind() == reflect.Struct && !slices.Contains(s.known, t):
		s.known = append(s.known, t)
		return form
	default:
		return form
	}
}

// formOf is what a reader checks of a value: string, integer, number, boolean, time, map, unknown, the name of a struct, or a list of these.
func formOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return "unknown"
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[[]byte]():
		return "string"
	}
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return formOf(t.Elem())
	case kind == reflect.String:
		return "string"
	case kind == reflect.Bool:
		return "boolean"
	case kind == reflect.Float64:
		return "number"
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return "integer"
	case kind == reflect.Slice:
		return formOf(t.Elem()) + "[]"
	case kind == reflect.Map:
		return "map"
	case kind == reflect.Struct:
		return nameOf(t)
	}
	return "unknown"
}

func isWord(t reflect.Type) bool {
	return slices.ContainsFunc(vocabulary, func(w words) bool { return reflect.TypeOf(w.all[0]) == t })
}

// nameOf is the name of a Go type here: those of shared/event are about prompts.
func nameOf(t reflect.Type) string {
	if strings.HasSuffix(t.PkgPath(), "/event") {
		return "Prompt" + strings.TrimPrefix(t.Name(), "Prompt")
	}
	return "Card" + strings.TrimPrefix(t.Name(), "Card")
}

type field struct {
	reflect.StructField
	name     string
	optional bool
}

// fieldsOf are the fields of a struct as JSON has them; those of an embedded one are its own.
func fieldsOf(t reflect.Type) (all []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			all = append(all, fieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			all = append(all, field{f, name, strings.HasPrefix(options, "omit")})
		}
	}
	return all
}
