package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// shelfBytes is how much of a page is kept: readers that are far behind read for themselves.
const shelfBytes = 64 << 10

// shelf keeps the newest page that was read of each run that is followed, so that readers who are at the same place cost one read of the
// store. Safe for concurrent use.
type shelf struct {
	mu   sync.Mutex
	runs map[id.Run]*shelved
}

func newShelf() *shelf { return &shelf{runs: map[id.Run]*shelved{}} }

// eventLog reads a run's log as runlog.Runs does.
type eventLog interface {
	EventsUpTo(ctx context.Context, run id.Run, after, head runlog.EventSeq) (runlog.EventPage, error)
}

// shelved is the page of one run.
type shelved struct {
	shelf   *shelf
	run     id.Run
	readers int // guarded by the shelf's lock

	mu     sync.Mutex // held while the store is read: who comes meanwhile wants the same
	after  runlog.EventSeq
	events []runlog.StoredEvent
}

// take returns the place of a run. It is given back with put.
func (s *shelf) take(run id.Run) *shelved {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := s.runs[run]
	if page == nil {
		page = &shelved{shelf: s, run: run}
		s.runs[run] = page
	}
	page.readers++
	return page
}

func (p *shelved) put() {
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	if p.readers--; p.readers == 0 {
		delete(p.shelf.runs, p.run)
	}
}

// Events returns what comes next after a number that is below head, an event that is known to be committed: at least one event, unless the log
// has a hole there. The slice is the caller's.
func (p *shelved) Events(ctx context.Context, log eventLog, after, head runlog.EventSeq) (runlog.EventPage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if there := p.kept(after); len(there) > 0 {
		return runlog.EventPage{Events: slices.Clone(there), Last: max(head, there[len(there)-1].Seq)}, nil
	}
	page, err := log.EventsUpTo(ctx, p.run, after, min(head, after+streamPage))
	if err != nil {
		return page, err
	}
	p.keep(after, page.Events)
	return runlog.EventPage{Events: slices.Clone(page.Events), Last: head}, nil
}

func (p *shelved) kept(after runlog.EventSeq) []runlog.StoredEvent {
	if after < p.after || after >= p.after+runlog.EventSeq(len(p.events)) {
		return nil
	}
	return p.events[after-p.after:]
}

func (p *shelved) keep(after runlog.EventSeq, events []runlog.StoredEvent) {
	size := 0
	for _, e := range events {
		size += len(e.Payload)
	}
	if size > shelfBytes {
		events = nil
	}
	p.after, p.events = after, events
}
