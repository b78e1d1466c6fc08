package event

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// WriteDoc writes api/events.md: the page that a client author reads. It is generated, so that it cannot disagree with the code.
func WriteDoc(w io.Writer) error {
	var b strings.Builder
	b.WriteString(docIntro)
	docEvents(&b)
	docFamilies(&b)
	docFrames(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write event page: %w", err)
	}
	return nil
}

const docIntro = `<!-- Generated from shared/event. Change the tables there, then: cd shared && go test ./event -run Page -update -->
# Events and frames

Two vocabularies, never to be mixed: **events** are the facts in a run's log, **Hub frames** are what a client's socket carries.
An event reaches a socket inside the frame ` + "`agent.stream`" + `, with its name in ` + "`event_type`" + ` and its payload as text, byte for byte.

Ignore events, frames and keys that you do not know. New content grows inside payloads, not as new types.

`

func docEvents(b *strings.Builder) {
	b.WriteString(`## Events

*Stored* is the name in the run's log and in the canonical stream. *Wire* is the name of the same event between edge and hub and in
` + "`agent.stream`" + `. One stored event is one wire event, so ` + "`event_seq`" + ` is the same number everywhere. A tool's result is one wire name for
two events: the failed one has ` + "`error`" + `. The steps of a prompt have the first name for a permission, those with ` + "`plan`" + ` for a
plan to review, their stored one for other kinds.

*By* is who may append it, and which part of it does. An edge that runs out of disk may shed what is marked *droppable*. A run has at most one
event that *ends* it. In *payload*, keys with ` + "`?`" + ` may be absent; a reader ignores others. Each payload has an example, byte for byte, in
[shared/event/testdata/payload](../shared/event/testdata/payload).

*When* is where in a run's life the event has its place: *before start* (` + "`queued`, `waiting_edge`, `dispatched`" + `), *working* (` + "`running`,\n`waiting_person`" + `), *cancelling*, *over*. The hub refuses no fact: one that comes at another time is stored and changes nothing that it
should not, and after the outcome it is late.

| stored | wire | by | when | droppable | ends the run | payload | meaning |
|---|---|---|---|---|---|---|---|
`)
	for _, r := range Rows() {
		if r.Reserved {
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s: %s | %s | %s | %s | %s | %s |\n",
			r.Stored, wireNames(r), appenders(r.By), r.Producer, r.Legal.states(), mark(r.Droppable), mark(r.Terminal), payloadKeys(r.Stored), r.Meaning)
	}
	b.WriteString("\nReserved names, stored and passed on as they come:\n\n| name | droppable | about |\n|---|---|---|\n")
	for _, r := range Rows() {
		if r.Reserved {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", r.Stored, mark(r.Droppable), r.Meaning)
		}
	}
	b.WriteString("\nAny other name of 1 to 96 characters out of `A-Z a-z 0-9 . _ -` is treated the same way.\n\n" +
		"`run.created` and `input.accepted`, which other systems of this kind have as events 1 and 2, are none here: what asked for the run is the\n" +
		"message that triggered it (R24).\n\n")
}

func docFamilies(b *strings.Builder) {
	b.WriteString("## Families\n\nNames by what they are about.\n\n| family | names | where |\n|---|---|---|\n")
	for _, f := range Families() {
		names := make([]string, len(f.Names))
		for i, name := range f.Names {
			names[i] = "`" + name + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", f.Name, strings.Join(names, " "), f.Where)
	}
	b.WriteString("\n")
}

func docFrames(b *strings.Builder) {
	b.WriteString(`## Hub frames

The socket delivers at least once: after a reconnect, frames come again. Apply each by its business key; ` + "`seq_id`" + ` only tells you that
something was lost on this connection.

- *merge*: one record per key; the frame's fields win. Never a second record.
- *same*: applying it again changes nothing.
- *forward*: a number that only grows; a smaller one is dropped.
- *ephemeral*: may be lost or repeated; do not keep it.

| type | business key | repeated | meaning |
|---|---|---|---|
`)
	for _, f := range Frames() {
		words := make([]string, len(f.Repeat))
		for i, r := range f.Repeat {
			words[i] = string(r)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Type, f.Key, strings.Join(words, ", "), f.Meaning)
	}
}

func wireNames(r Row) string {
	names := "`" + string(r.Wire) + "`"
	for _, other := range OtherWires(r.Stored) {
		names += " `" + string(other) + "`"
	}
	return names
}

func appenders(by Appender) string {
	switch by {
	case ByEdge:
		return "edge"
	case ByHub:
		return "hub"
	}
	return "edge, hub"
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// payloadKeys lists the JSON keys of an event's payload struct, optional ones with a question mark.
func payloadKeys(t Type) string {
	payload := payloadOf(t)
	if payload == nil {
		return "opaque"
	}
	return KeysOf(payload)
}

// KeysOf lists the JSON keys of a payload for pages: optional ones with a question mark, and the words that a text may be.
func KeysOf(payload any) string {
	shape := reflect.TypeOf(payload)
	var keys []string
	for i := range shape.NumField() {
		if field := shape.Field(i); field.Anonymous {
			keys = append(keys, KeysOf(reflect.Zero(field.Type).Interface()))
			continue
		}
		tag := shape.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		if options == "omitempty" {
			name += "?"
		}
		key := "`" + name + "`"
		switch words := tag.Get("oneof"); {
		case words != "":
			key += " (" + strings.ReplaceAll(words, ",", ", ") + ")"
		case tag.Get("share") != "":
			key += " (0 to 1)"
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, " ")
}
