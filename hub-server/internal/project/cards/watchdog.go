package cards

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Due is a card that may be silent no longer than to At.
type Due struct {
	Card    string
	Kind    card.Kind
	Run     id.Run
	At      time.Time
	Timeout time.Duration
}

// Presence says since when the edge of a run has been seen without a break; false while it is absent: then nobody knows, and nothing of the run
// is late.
type Presence func(id.Run) (since time.Time, here bool)

// Deadline returns the card that is late first, or is late already, of all runs that can be judged; false if none can be late. A card above or
// beside a question to a person is never late (facts 0.5).
func (s *State) Deadline(presence Presence) (Due, bool) {
	waiting := s.waiting()
	var first Due
	found := false
	for _, t := range s.threads {
		since, here := presence(t.run)
		if t.ended || !here {
			continue
		}
		for _, n := range t.nodes {
			if !n.open || n.timeout == 0 || waiting.has(n) {
				continue
			}
			if due := n.due(since); !found || due.At.Before(first.At) {
				first, found = due, true
			}
		}
	}
	return first, found
}

func (n *node) due(since time.Time) Due {
	heard := time.UnixMilli(n.active)
	if since.After(heard) {
		heard = since
	}
	timeout := time.Duration(n.timeout) * time.Millisecond
	return Due{Card: n.id, Kind: n.kind, Run: n.thread.run, At: heard.Add(timeout), Timeout: timeout}
}

// pauses is what waits for people: agents that asked, and the cards that they work in.
type pauses struct {
	scopes map[*scope]bool
	nodes  map[*node]bool
}

func (p pauses) has(n *node) bool { return p.scopes[n.scope] || p.nodes[n] }

func (s *State) waiting() pauses {
	p := pauses{map[*scope]bool{}, map[*node]bool{}}
	for _, t := range s.threads {
		for _, a := range t.prompts {
			p.scopes[a.scope] = true
			for n := a.scope.card; n != nil; n = n.parent {
				p.nodes[n] = true
			}
		}
	}
	return p
}
