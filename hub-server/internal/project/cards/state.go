package cards

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// State is what the fold remembers of a conversation: its counters, the cards of runs that have not ended, and the names of its files, but no
// text. It is owned by one goroutine at a time.
type State struct {
	trace   card.Trace
	names   card.Names
	place   int64
	turns   int64
	topics  []string // of the system cards shown, in their order
	model   string   // that an agent of the conversation has named last, "" for none
	threads []*thread

	// Stored forms of what changes seldom; nil once it has changed.
	idsForm, namesForm []byte
	size               int // of the last stored form of all, in bytes

	// Of the fact at hand.
	at       time.Time
	recorded time.Time
	out      []Frame
}

// New is the state of a trace that has shown nothing yet. language is that of the hub's own sentences in it.
func New(trace id.Trace, session id.Session, language card.Language) *State {
	return &State{trace: card.Trace{ID: trace, Session: session, Language: language}}
}

// Place is the place of the last fact that was applied, 0 for none.
func (s *State) Place() int64 { return s.place }

// Seq is the number of the last event of the trace, 0 for none.
func (s *State) Seq() card.Seq { return s.trace.Last }

// Model is the model that an agent of the conversation has named last, "" if none has.
func (s *State) Model() string { return s.model }

// Apply returns the events that f adds to the trace, none if it shows nothing. A fact at or before Place has been applied and adds none.
func (s *State) Apply(f Fact) []Frame {
	if f.Place <= s.place {
		return nil
	}
	s.place, s.at, s.recorded, s.out = f.Place, f.At, f.Recorded, nil
	switch {
	case f.Late:
	case f.Message != nil:
		s.said(*f.Message)
	default:
		s.happened(f)
	}
	return s.out
}

// happened applies an event by its rule; one that the table does not know shows nothing.
func (s *State) happened(f Fact) {
	if apply := appliers[f.Event]; apply != nil {
		apply(s, f)
	}
}

// thread returns what is remembered of a run, nil if it has shown nothing.
func (s *State) thread(run id.Run) *thread {
	for _, t := range s.threads {
		if t.run == run {
			return t
		}
	}
	return nil
}
