package client

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// CardForest is what the events of a card trace have come to (S0 §14): cards, who stands below whom, and the questions that wait for a person. Apply
// makes it from events, in whichever way they were cut, repeated and sent again; the same events always make the same forest. Not safe for concurrent
// use. The zero value is not ready; NewCardForest is.
type CardForest struct {
	trace   id.Trace
	last    card.Seq
	adopt   bool // the next event of a card begins anew, whatever its number: what was before is not kept any more
	cards   map[string]*Card
	order   []string            // ids, as they were added
	below   map[string][]string // ids by parent, as they were added
	prompts map[id.Request]*CardPrompt
	session CardSession
}

// CardSession is what session events have told. Unknown is empty.
type CardSession struct {
	ID           id.Session
	Model        string
	Title        string
	Members      []string
	Capabilities card.Capabilities
	Error        *card.ErrorInfo // the newest one since the connection was opened
}

// NewCardForest returns an empty forest.
func NewCardForest() *CardForest {
	f := &CardForest{prompts: map[id.Request]*CardPrompt{}}
	f.clear()
	return f
}

// clear forgets the trace, but not the prompts: the hub has just sent those that wait.
func (f *CardForest) clear() {
	f.last, f.cards, f.order, f.below = 0, map[string]*Card{}, nil, map[string][]string{}
}

// Trace is the trace that the events are of; "" before the first.
func (f *CardForest) Trace() id.Trace { return f.trace }

// Last is the number of the newest event that was applied: what a session.resume says as last_seq.
func (f *CardForest) Last() card.Seq { return f.last }

// Session is what is known of the conversation.
func (f *CardForest) Session() CardSession { return f.session }

// Card returns the card of an id, nil if there is none. It belongs to the forest and changes with it.
func (f *CardForest) Card(cardID string) *Card { return f.cards[cardID] }

// Roots are the cards that stand below none that is known, in the order in which they were added.
func (f *CardForest) Roots() []*Card {
	var roots []*Card
	for _, cardID := range f.order {
		if c := f.cards[cardID]; f.cards[c.Parent] == nil {
			roots = append(roots, c)
		}
	}
	return roots
}

// Below are the cards that stand below one, in the order in which they were added.
func (f *CardForest) Below(cardID string) []*Card {
	var below []*Card
	for _, child := range f.below[cardID] {
		below = append(below, f.cards[child])
	}
	return below
}

// maxCursors is of how many cards at most a resume says how far they are known.
const maxCursors = 1000

// Cursors are how far open cards are known: the number of the newest append of each, as a session.resume says it. nil for none.
func (f *CardForest) Cursors() map[string]int64 {
	var cursors map[string]int64
	for _, cardID := range slices.Backward(f.order) {
		c := f.cards[cardID]
		if c.Status != CardOpen || c.newestAppend == 0 {
			continue
		}
		if cursors == nil {
			cursors = map[string]int64{}
		}
		if cursors[cardID] = int64(c.newestAppend); len(cursors) == maxCursors { //nolint:gosec // far below the bound
			break
		}
	}
	return cursors
}

// Apply takes one event. Repeated: its number is not beyond Last. Missed: it is not the next one; nothing was applied, resume behind Last.
// Ignored: it is of another trace, or it changes nothing, but its number counts: it is about a card or of a type that is not known. A question
// is taken whenever it comes, since the hub sends those that wait before everything else.
func (f *CardForest) Apply(e card.Event) Verdict {
	if e.Type == card.SessionEvent {
		return f.tell(e)
	}
	seq := e.Envelope.Seq
	if seq == 0 || f.trace != "" && e.Envelope.TraceID != f.trace {
		return Ignored
	}
	f.trace = e.Envelope.TraceID
	asked := Ignored
	if e.Type == card.PromptUser {
		asked = f.ask(e)
	}
	switch {
	case f.adopt && e.Type.OfCard():
		f.adopt = false
	case seq <= f.last:
		if asked == Applied {
			return Applied
		}
		return Repeated
	case seq > f.last+1:
		return Missed
	}
	f.last = seq
	if e.Type == card.PromptUser {
		return asked
	}
	return f.apply(e)
}

func (f *CardForest) apply(e card.Event) Verdict {
	switch e.Type {
	case card.Add:
		return f.add(e)
	case card.Set, card.Append, card.Tick, card.Close:
		c := f.cards[e.Envelope.CardID]
		if c == nil {
			return Ignored
		}
		return c.take(e)
	case card.PromptReply:
		return f.reply(e)
	}
	return Ignored
}

// add opens a card. One that is there is opened anew where it stands.
func (f *CardForest) add(e card.Event) Verdict {
	fields, err := object(e.Payload)
	if err != nil || e.Envelope.CardID == "" {
		return Ignored
	}
	c := &Card{
		ID: e.Envelope.CardID, Parent: e.Envelope.ParentCardID, Kind: e.Envelope.CardKind, Status: CardOpen, Payload: fields,
		AgentID: e.Envelope.AgentID, AgentRole: e.Envelope.AgentRole, Run: e.Envelope.AgentRunID, Events: 1, OpenedAt: e.Envelope.Timestamp, UpdatedAt: e.Envelope.Timestamp,
		Severity: e.Envelope.Severity, channels: map[card.Channel]map[int][]byte{},
	}
	if e.Hint != nil {
		c.Hint = *e.Hint
	}
	if before := f.cards[c.ID]; before == nil {
		f.order = append(f.order, c.ID)
		f.below[c.Parent] = append(f.below[c.Parent], c.ID)
	} else if before.Parent != c.Parent {
		f.below[before.Parent] = slices.DeleteFunc(f.below[before.Parent], func(id string) bool { return id == c.ID })
		f.below[c.Parent] = append(f.below[c.Parent], c.ID)
	}
	f.cards[c.ID] = c
	return Applied
}

var errNoObject = errors.New("not an object")

// object reads the members of an object, each as it was written.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, errNoObject
	}
	return fields, nil
}
