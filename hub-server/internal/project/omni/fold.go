// Package omni folds the facts of one conversation into the OmniMessages that they are (S1, docs/protocols/omni.md): the same facts give the same
// bytes, on every hub and after every restart. It reads no clock and no store.
//
// The conversation is the main session. One run at a time speaks in it; a run that begins beside it, a run that another run started, and a
// sub-agent have a session of their own, which their origin names and a subagent event points at. session_meta has the run's working directory:
// who shows messages to others than the owner of the edge takes it out (R18).
package omni

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// Fact is one thing of a conversation, in the conversation's order: an event of one of its runs, or a message.
type Fact struct {
	Place int64     // in the conversation's order, ascending
	At    time.Time // when it happened, by the clock of who says so: the timestamp

	// Of an event.
	Run     Run
	Event   event.Type
	Payload json.RawMessage // as it is stored
	// Blobs are what the blobs say that the payload points at, by their SHA-256, as far as it is to be had.
	Blobs map[string]string
	Late  bool // it came after the run had ended: nothing is said of it

	// Of a message; nil for an event.
	Message *Message
}

// Run is which run an event is of. It never changes once the run has begun.
type Run struct {
	ID     id.Run
	Parent id.Run   // "" for a run that no run started
	Edge   id.Edge  // whose machine it works at, "" for none
	Agent  id.Agent // which works
	Told   string   // what its agent was told in place of a message, "" for one that a message has begun: it goes on for a run that waited for people
}

// Message is a message as it was sent.
type Message struct {
	ByAgent bool   // the text of an agent: its run has said it
	Text    string // as plain text, "" for one without
	Files   []File // in the order in which they were sent
}

// State is what the fold remembers: counters, and of runs that have not ended their calls and the text that is open, of which it has at most
// maxOpen bytes for each session. It is owned by one goroutine at a time.
type State struct {
	kept memory

	// Of the fact at hand.
	at    time.Time
	out   []omni.Message
	edges map[int]id.Edge
}

// memory is the part of a State that outlives a fact, in the form in which it is stored.
type memory struct {
	Place   int64      `json:"place"`
	Session id.Session `json:"session"`
	Main    *session   `json:"main"`
	Holder  id.Run     `json:"holder,omitempty"` // the run that speaks in the main session
	Held    []held     `json:"held,omitempty"`   // what people said before the first session_meta
	Crowd   *span      `json:"crowd,omitempty"`  // where what people said stands whose number alone began the context, until an agent speaks in it
	Runs    []*thread  `json:"runs,omitempty"`
	Steers  []Steer    `json:"steers,omitempty"` // said to runs, and not taken yet

	Imported bool `json:"imported,omitempty"` // all that is told is lines of traces
}

// held is what a user has said that waits for the session_meta of the first context: what that says is known when an agent begins.
type held struct {
	At    time.Time `json:"at"`
	Text  string    `json:"text"`
	Files []File    `json:"files,omitempty"`
	Place int64     `json:"place"`
}

func (h held) message() Message { return Message{Text: h.Text, Files: h.Files} }

// Bounds of what waits.
const (
	mostHeld  = 64
	bytesHeld = 1 << 20
)

// New is the state of a conversation of which nothing has been said yet.
func New(conversation id.Session) *State {
	return &State{kept: memory{Session: conversation, Main: &session{}}}
}

// Place is the place of the last fact that was applied, 0 for none.
func (s *State) Place() int64 { return s.kept.Place }

// Encode returns a form of the state that Restore reads.
func (s *State) Encode() ([]byte, error) {
	form, err := event.Encode(s.kept)
	if err != nil {
		return nil, fmt.Errorf("encode the state of an omni stream: %w", err)
	}
	return form, nil
}

// Restore reads what Encode wrote. The state goes on with the fact behind its Place.
func Restore(form []byte) (*State, error) {
	s := New("")
	if err := json.Unmarshal(form, &s.kept); err != nil {
		return nil, fmt.Errorf("read the state of an omni stream: %w", err)
	}
	return s, nil
}

// Apply returns the messages that f is, none if it says nothing. A fact at or before Place has been applied and is none.
func (s *State) Apply(f Fact) []omni.Message {
	if f.Place <= s.kept.Place {
		return nil
	}
	s.kept.Place, s.at, s.out, s.edges = f.Place, f.At, nil, nil
	switch apply := appliers[f.Event]; {
	case f.Late:
	case f.Message != nil:
		s.said(*f.Message)
	case apply != nil:
		apply(s, f)
	}
	return s.out
}

// Edges are of the session_metas among what Apply returned last, by their index: whose machine has the paths in them, which need not be that of the run whose
// event they were told with. There are none of a meta of which that is not known.
func (s *State) Edges() map[int]id.Edge { return s.edges }

// said takes what a person says.
func (s *State) said(m Message) {
	if m.ByAgent || m.empty() || s.kept.Imported {
		return
	}
	main := s.kept.Main
	if main.Meta {
		s.people(main, s.at, m)
		return
	}
	s.kept.Held = append(s.kept.Held, held{s.at, m.Text, m.Files, s.kept.Place})
	size := 0
	for _, h := range s.kept.Held {
		size += h.message().size()
	}
	if len(s.kept.Held) > mostHeld || size > bytesHeld {
		crowd := s.held()
		s.introduce(main)
		s.kept.Crowd = crowd
	}
}

// tell says a payload in a session, after the session's meta. It reports whether the payload could be made a message.
func (s *State) tell(in *session, p omni.Payload) bool {
	s.introduce(in)
	return s.emit(in, s.at, p)
}

func (s *State) emit(in *session, at time.Time, p omni.Payload) bool {
	m, err := in.message(at, p)
	if err != nil { // a field that S1 needs is empty, or it is too large
		return false
	}
	s.out = append(s.out, m)
	return true
}

// message is a payload as the session says it.
func (in *session) message(at time.Time, p omni.Payload) (omni.Message, error) {
	m, err := omni.New(at, p)
	for i := len(in.Chain) - 1; err == nil && i >= 0; i-- {
		m, err = m.WithOrigin(in.Chain[i])
	}
	return m, err
}

// introduce begins a context: with its meta, and what people have said before it in the first one of the conversation.
func (s *State) introduce(in *session) {
	if in == s.kept.Main {
		s.kept.Crowd = nil // it begins here at the latest
	}
	if in.Meta {
		return
	}
	in.Meta = true
	s.tellMeta(in)
	if in.Carried != "" {
		s.emit(in, s.at, omni.UserText(summaryMark+in.Carried))
		in.Carried = ""
	}
	if in == s.kept.Main {
		for _, h := range s.kept.Held {
			s.people(in, h.At, h.message())
		}
		s.kept.Held = nil
	}
	s.tellOpening(in)
}

// tellOpening tells what the agent was told in place of a message.
func (s *State) tellOpening(in *session) {
	if in.Opening != "" {
		s.emit(in, s.at, omni.UserText(in.Opening))
		in.Opening = ""
	}
}

func (s *State) tellMeta(in *session) {
	meta := in.meta(string(s.kept.Session))
	if n := len(in.Chain); n > 0 {
		meta.SessionID, meta.Source = in.Chain[n-1], in.Source
	}
	told := s.emit(in, s.at, meta)
	if !told { // what an agent says of its model fits into no message
		in.Context = context{}
		told = s.emit(in, s.at, in.meta(meta.SessionID))
	}
	if told && in.Edge != "" {
		if s.edges == nil {
			s.edges = map[int]id.Edge{}
		}
		s.edges[len(s.out)-1] = in.Edge
	}
}

// blob is what a blob says that the payload points at, "" where it is not to be had.
func (f Fact) blob(ref *event.BlobRef) string { return f.Blobs[ref.SHA256] }

func read[P any](f Fact) (P, bool) {
	var p P
	return p, json.Unmarshal(f.Payload, &p) == nil
}
