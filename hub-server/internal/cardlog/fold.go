package cardlog

import (
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Fold turns the facts of one conversation into frames, one after the other. It belongs to one goroutine at a time.
type Fold interface {
	// Apply returns what a fact adds to the trace: frames that go on behind Seq, each one line.
	Apply(f cards.Fact) []cards.Frame
	// Seq is the number of the newest frame.
	Seq() card.Seq
	// Model is the model that an agent of the conversation has named last, "" if none has.
	Model() string
	// Deadline returns the card that may be silent no longer first, of the runs whose machine is here; false if there is none.
	Deadline(presence cards.Presence) (cards.Due, bool)
	// Encode returns what the fold remembers: Rules.Restore goes on from it.
	Encode() []byte
}

// Rules make folds. What is told once stays, whatever the rules were; the rules of now tell the rest.
type Rules struct {
	Version int // of what they tell: noted with each trace, for whoever wonders
	New     func(id.Trace, id.Session) Fold
	Restore func([]byte) (Fold, error)
}

// Cards are the rules of project/cards. A trace speaks the language that it was made with.
func Cards(language card.Language) Rules {
	return Rules{
		Version: 3,
		New:     func(trace id.Trace, session id.Session) Fold { return cards.New(trace, session, language) },
		Restore: func(state []byte) (Fold, error) { return cards.Restore(state) },
	}
}
