package cards

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// What a run remembers of its closed cards and of sub-agents that are through: facts may still name one of them.
const (
	keptClosed = 8
	keptScopes = 64
	deepest    = 64   // cards above each other
	mostCards  = 1200 // of one run, open ones too: more than the calls that may be open at once (run.Normaliser)
)

// newScope is a sub-agent that begins to work below another one. At times it makes room first.
func (s *State) newScope(t *thread, name event.SubAgent, above *scope) *scope {
	if len(t.scopes)%keptScopes == 0 {
		busy := s.busy(t)
		busy[above] = true
		t.forgetScopes(busy)
	}
	sc := &scope{name: name}
	t.scopes = append(t.scopes, sc)
	return sc
}

// crowd gives up the oldest card without any open one below it when a run has opened more than can be remembered.
func (s *State) crowd(t *thread) {
	if len(t.nodes) <= mostCards {
		return
	}
	above := map[*node]bool{}
	for _, other := range s.threads {
		for _, n := range other.nodes {
			if n.open {
				above[n.parent] = true
			}
		}
	}
	i := slices.IndexFunc(t.nodes, func(n *node) bool { return n.open && !above[n] && n != t.root })
	if i >= 0 && i < len(t.nodes)-1 {
		s.close(t.nodes[i], card.End{Status: card.Skipped})
	}
}

// forgetCards drops the oldest closed cards that nothing depends on, when there are twice as many as are kept: so it costs little for each.
func (t *thread) forgetCards() {
	if len(t.nodes) <= 2*keptClosed {
		return
	}
	closed := 0
	about := t.asksAbout()
	needless := func(n *node) bool { return n.needless() && !about[n] }
	for _, n := range t.nodes {
		if needless(n) {
			closed++
		}
	}
	if closed <= 2*keptClosed {
		return
	}
	t.nodes = slices.DeleteFunc(t.nodes, func(n *node) bool {
		if closed <= keptClosed || !needless(n) {
			return false
		}
		closed--
		n.leave()
		return true
	})
}

// asksAbout are the calls that wait for an answer, ended or not: the answer may still be told of them.
func (t *thread) asksAbout() map[*node]bool {
	about := map[*node]bool{}
	for _, a := range t.prompts {
		if a.tool != nil {
			about[a.tool] = true
		}
	}
	return about
}

// needless says whether a card has had its end, none is below it, and no agent works in it.
func (n *node) needless() bool {
	sc := n.scope
	return !n.open && !n.orphaned && n.kids == 0 && n != sc.card && n != sc.message && n != sc.thought
}

func (n *node) leave() {
	if n.parent != nil {
		n.parent.kids--
	}
}

// busy are the scopes of a run in which something is open, waits, or has something of another one below it.
func (s *State) busy(t *thread) map[*scope]bool {
	busy := map[*scope]bool{t.main(): true}
	for _, other := range s.threads {
		for _, n := range other.nodes {
			if n.parent != nil && n.parent.scope != n.scope {
				busy[n.parent.scope] = true
			}
			if n.open || n.orphaned {
				busy[n.scope] = true
			}
		}
	}
	for _, a := range t.prompts {
		busy[a.scope] = true
		if a.tool != nil {
			busy[a.tool.scope] = true
		}
	}
	return busy
}

func (t *thread) forgetScopes(busy map[*scope]bool) {
	gone := map[*scope]bool{}
	for _, sc := range t.scopes {
		if len(t.scopes)-len(gone) > keptScopes && !busy[sc] {
			gone[sc] = true
		}
	}
	t.scopes = slices.DeleteFunc(t.scopes, func(sc *scope) bool { return gone[sc] })
	t.nodes = slices.DeleteFunc(t.nodes, func(n *node) bool {
		if gone[n.scope] {
			n.leave()
		}
		return gone[n.scope]
	})
}
