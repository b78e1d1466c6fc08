// Package cards folds the facts of one conversation into the events of its card trace (S0): the same facts give the same bytes, on every hub and
// after every restart. It reads no clock and no store: times come with the facts, and what it has to remember is its State.
package cards

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Fact is one thing of a conversation, in the conversation's order: an event of one of its runs, or a message.
type Fact struct {
	Place    int64     // in the conversation's order, ascending
	At       time.Time // when it happened, by the clock of who says so: what is shown
	Recorded time.Time // when the hub stored it, by the hub's clock: what silence is measured by

	// Of an event.
	Run     Run
	Event   event.Type
	Payload json.RawMessage // as it is stored
	Whole   string          // of message.completed whose text is a blob: the text, or its beginning; "" where it cannot be had
	Late    bool            // it came after the run had ended: nothing is shown of it

	// Of a message; nil for an event.
	Message *Message
}

// Run is what cards tell of an event's run. It never changes.
type Run struct {
	ID      id.Run
	Parent  id.Run     // "" for a run that no run started: it is a turn
	Agent   string     // display name of the agent
	Trigger id.Message // the message that asked for it, "" if the API did without one
	Asked   string     // what that message says, as plain text; its beginning is enough
}

// Message is a message as it was sent.
type Message struct {
	ID       id.Message
	ByAgent  bool   // the text of an agent: its run has shown it
	Triggers bool   // it started runs: their turns show it
	Text     string // what it says, as plain text; of a picture or a file a word about it
}

// Frame is one event of the trace in its final bytes: a line of JSON with its line end (facts 0.6).
type Frame struct {
	Seq     card.Seq
	Bytes   []byte
	Request id.Request // the question that a prompt.user asks, or the call that a client is to carry out; "" for all other events
	Card    string     // of such a call: its card
}
