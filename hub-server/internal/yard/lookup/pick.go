// Package lookup finds what a person means: things are named by id, by the unique beginning of an id with or without its kind, or by name.
package lookup

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNone and ErrMany are wrapped by the errors of this package: nothing, or more than one thing, goes by that name.
var (
	ErrNone = errors.New("no match")
	ErrMany = errors.New("more than one match")
)

// noMatch is an error that says in one sentence what was looked for and what to do.
type noMatch struct {
	kind error
	text string
}

func (e *noMatch) Error() string { return e.text }
func (e *noMatch) Unwrap() error { return e.kind }

const (
	fewest    = 4 // digits of an id; less is a typing error more often than an id
	mostNamed = 5 // candidates in an error
)

// thing is what this package knows of something: its id and its name, which may be "".
type thing struct{ id, name string }

// kind says how to speak of things.
type kind struct{ one, list string }

// pick returns the index of the one thing that ref means.
func pick(k kind, ref string, things []thing) (int, error) {
	for _, match := range []func(thing) bool{
		func(t thing) bool { return t.id == ref },
		func(t thing) bool { return t.name == ref && ref != "" },
		func(t thing) bool { return begins(t.id, ref) },
	} {
		var found []int
		for i, t := range things {
			if match(t) {
				found = append(found, i)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return -1, many(k, ref, things, found)
		}
	}
	return -1, &noMatch{ErrNone, fmt.Sprintf("no %s %q; %#q lists them", k.one, ref, k.list)}
}

// begins says whether ref is the beginning of id, or of what follows the id's kind.
func begins(id, ref string) bool {
	_, digits, _ := strings.Cut(id, "_")
	if _, typed, ok := strings.Cut(ref, "_"); ok {
		return len(typed) >= fewest && strings.HasPrefix(id, ref)
	}
	return len(ref) >= fewest && strings.HasPrefix(digits, ref)
}

func many(k kind, ref string, things []thing, found []int) error {
	var names []string
	for _, i := range found[:min(len(found), mostNamed)] {
		names = append(names, things[i].id)
	}
	if len(found) > mostNamed {
		names = append(names, "…")
	}
	return &noMatch{ErrMany, fmt.Sprintf("%q may be any of %d %ss; say which: %s", ref, len(found), k.one, strings.Join(names, " "))}
}
