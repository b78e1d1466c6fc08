package admission

import (
	"fmt"
	"maps"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
)

// Reasons for which a run waits, as people read them. A run says the first one that holds when it is admitted; if another one takes its place
// while it waits, nothing more is written.
const (
	reasonNone   = ""
	reasonPlaces = "All places for agents on this edge are taken."
	reasonTurn   = "The agent is still busy with an earlier message of this conversation."
)

func reasonLimit(most int) string {
	return fmt.Sprintf("The agent already works on as many messages as its profile allows (max_runs: %d).", most)
}

// wouldWait says why a new turn of the dialogue could not start at once; reasonNone if it could.
func (s *schedule) wouldWait(d journal.Dialogue) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.talking[d] || s.queueOf(d) != nil {
		return reasonTurn
	}
	places, busy := s.afterPending()
	switch most := s.limit(d.Profile); {
	case most > 0 && busy[d.Profile] >= most:
		return reasonLimit(most)
	case places <= 0:
		return reasonPlaces
	}
	return reasonNone
}

// afterPending is how many places will be free, and how many turns of each profile will run, once everything has started that may. Turns that
// wait for their own dialogue or profile take no place from others. Callers hold mu.
func (s *schedule) afterPending() (places int, busy map[string]int) {
	places, busy = s.places-len(s.running), maps.Clone(s.busy)
	for _, q := range s.waiting {
		most := s.limit(q.dialogue.Profile)
		if s.talking[q.dialogue] || most > 0 && busy[q.dialogue.Profile] >= most {
			continue
		}
		places--
		busy[q.dialogue.Profile]++
	}
	return places, busy
}

// refuses says why no further turn of the dialogue may wait; reasonNone if one may.
func (s *schedule) refuses(d journal.Dialogue) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queueOf(d)
	switch {
	case s.pending >= maxPending:
		return fmt.Sprintf("%d runs already wait on this edge.", maxPending)
	case q != nil && len(q.turns) >= maxPendingDialogue:
		return fmt.Sprintf("%d messages of this conversation already wait for the agent.", maxPendingDialogue)
	}
	return reasonNone
}
