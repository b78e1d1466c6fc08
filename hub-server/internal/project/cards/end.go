package cards

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// runEnded closes what is open of a run as the run ended (R34), the cards below first and the run's own last, and forgets the run.
func (s *State) runEnded(f Fact) {
	t := s.of(f.Run)
	end := s.endOf(f)
	s.withdraw(t)
	for _, n := range slices.Backward(slices.Clone(t.nodes)) { // a card is older than those below it
		if n.open && n != t.root {
			s.close(n, n.endWith(end))
		}
	}
	s.undelivered(t)
	end.Metrics = &t.usage
	s.close(t.root, end)
	t.ended = true
	s.dismiss(t)
}

// endWith is the end that a card gets from its run's. Work that was planned is not done because its run is.
func (n *node) endWith(end card.End) card.End {
	if n.kind == card.Todo && end.Status == card.OK {
		end.Status = card.Skipped
	}
	return end
}

// dismiss forgets a run that has ended when all the runs that it started have too, and then the one that started it.
func (s *State) dismiss(t *thread) {
	for t != nil && t.ended && t.alive == 0 {
		t.root.leave()
		s.threads = slices.DeleteFunc(s.threads, func(other *thread) bool { return other == t })
		if t = t.parent; t != nil {
			t.alive--
		}
	}
}

// endOf is the end that a run's outcome gives its cards.
func (s *State) endOf(f Fact) card.End {
	failure := failureOf(f)
	var row run.Ending
	for _, r := range run.Endings() {
		if r.Terminal == f.Event && (r.Code == "" || failure != nil && r.Code == failure.Code) {
			row = r
		}
	}
	end := card.End{Status: card.Status(row.Close)}
	if failure != nil {
		end.Error = s.failure(*failure)
	}
	if row.CloseError != "" {
		info := card.ErrorInfo{Type: card.ErrorType(row.CloseError), Code: end.Error.Code, Message: end.Error.Message}.Complete(s.trace.Language)
		end.Error = &info
	}
	return end
}

func failureOf(f Fact) *event.ErrorObj {
	switch f.Event {
	case event.RunFailed:
		p, _ := read[event.RunFailedPayload](f) // that the run failed is said by the type
		return &p.Error
	case event.RunInterrupted:
		p, _ := read[event.RunInterruptedPayload](f)
		return &event.ErrorObj{
			Code:    p.ReasonCode,
			Message: fmt.Sprintf("The run was cut off and nobody knows how far its last step got (%s).", p.ReasonCode),
		}
	}
	return nil
}

// orphaned closes a card of which nothing was heard for too long. That is no sign of life, and its real end may follow (facts 0.5).
func (s *State) orphaned(f Fact) {
	p, ok := read[event.CardOrphanedPayload](f)
	t := s.thread(f.Run.ID)
	if !ok || t == nil {
		return
	}
	n := t.newest(func(n *node) bool { return n.id == p.CardID })
	if n == nil || !n.open {
		return
	}
	if n.kind == card.Message {
		s.flush(n)
	}
	n.open, n.orphaned = false, true
	silence := time.Duration(p.TimeoutMS) * time.Millisecond
	info := card.NewError(card.OrphanTimeout, fmt.Sprintf("Nothing was heard of this %s for %s.", n.kind, silence), s.trace.Language)
	s.end(n, card.End{Status: card.Failed, Error: &info})
}
