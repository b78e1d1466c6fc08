package cardtree

import (
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// Twin is a forest beside that of a feed, made of what the feed tells: it can be looked at while the feed goes on.
type Twin struct {
	forest *client.CardForest
	early  map[card.Seq]card.Event // questions that came before their turn: the feed does not tell them again
}

// NewTwin returns one of a feed whose forest is empty.
func NewTwin() *Twin {
	return &Twin{forest: client.NewCardForest(), early: map[card.Seq]card.Event{}}
}

// Take applies an update.
func (t *Twin) Take(u client.CardUpdate) {
	if u.Event == nil {
		return
	}
	e := *u.Event
	if e.Type == card.PromptUser && u.Verdict == client.Missed {
		t.early[e.Envelope.Seq] = e
		t.forest.Apply(e)
		return
	}
	for e.Envelope.Seq > t.forest.Last()+1 {
		next := t.forest.Last() + 1
		question, known := t.early[next]
		if !known {
			break
		}
		delete(t.early, next)
		t.forest.Apply(question)
	}
	t.forest.Apply(e)
}
