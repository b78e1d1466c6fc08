// Package form is how a projection says, event by event, what the catalogue becomes in it.
package form

import "github.com/switchyard-dev/switchyard/shared/event"

// Rule says what an event of the catalogue becomes. A is the projection's function for it.
type Rule[A any] struct {
	Event event.Type
	Form  string // what it becomes, in the projection's own terms; "" for an event that becomes nothing
	Why   string // one sentence: what is told, or why nothing is
	Apply A      // nil for an event that changes nothing
}

// rule is Rule as a type of the projection: only there its literals may be without keys.
type rule[A any] interface {
	~struct {
		Event event.Type
		Form  string
		Why   string
		Apply A
	}
}

// Text is the part of a rule that a person reads.
type Text = Rule[struct{}]

// Texts are rules without their functions.
func Texts[R rule[A], A any](rules []R) []Text {
	texts := make([]Text, len(rules))
	for i, given := range rules {
		r := Rule[A](given)
		texts[i] = Text{Event: r.Event, Form: r.Form, Why: r.Why}
	}
	return texts
}

// Reserved are the rules of the reserved names of the catalogue, which become nothing.
func Reserved[R rule[A], A any]() []R {
	var rules []R
	for _, row := range event.Rows() {
		if row.Reserved {
			rules = append(rules, R(Rule[A]{Event: row.Stored, Why: "A reserved name: its payload has no decided shape."}))
		}
	}
	return rules
}

// Index returns the functions by their events. An event without a rule has the zero function, as one that changes nothing has.
func Index[R rule[A], A any](rules []R) map[event.Type]A {
	byEvent := make(map[event.Type]A, len(rules))
	for _, given := range rules {
		r := Rule[A](given)
		byEvent[r.Event] = r.Apply
	}
	return byEvent
}
