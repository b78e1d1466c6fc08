package admission

import (
	"context"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// maxPending bounds the runs that wait; beyond it a start is answered with busy.
const maxPending = 256

// schedule decides which run starts next: in order of admission, at most `places` at once, and one at a time per dialogue, because an agent
// takes one turn after the other.
type schedule struct {
	places int

	mu      sync.Mutex
	pending []*turn
	running map[id.Run]*turn
	talking map[journal.Dialogue]bool // dialogues of the running turns
	changed chan struct{}             // closed and replaced when a waiting place should look again
}

func newSchedule(places int) *schedule {
	return &schedule{
		places: places, running: map[id.Run]*turn{}, talking: map[journal.Dialogue]bool{}, changed: make(chan struct{}),
	}
}

// Reasons for which a run waits, as people read them.
const (
	reasonNone   = ""
	reasonPlaces = "All places for agents on this edge are taken."
	reasonTurn   = "The agent is still busy with an earlier message of this conversation."
)

// wouldWait says why a new turn of the dialogue could not start at once; reasonNone if it could.
func (s *schedule) wouldWait(d journal.Dialogue) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.talking[d] || slices.ContainsFunc(s.pending, func(t *turn) bool { return t.dialogue == d }):
		return reasonTurn
	case len(s.running)+len(s.pending) >= s.places:
		return reasonPlaces
	}
	return reasonNone
}

// full says whether no more runs should wait.
func (s *schedule) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) >= maxPending
}

func (s *schedule) add(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, t)
	s.wake()
}

// next waits for a turn that may start and moves it to the running ones. life is the context of the run: it ends with ctx, or with the cause
// errCancelled by a cancel. There is no turn when ctx ends.
func (s *schedule) next(ctx context.Context) (life context.Context, t *turn) {
	for {
		s.mu.Lock()
		picked, t := s.pick(ctx)
		changed := s.changed
		s.mu.Unlock()
		if t != nil || ctx.Err() != nil {
			return picked, t
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// pick takes the first pending turn whose dialogue is silent. Callers hold mu.
func (s *schedule) pick(ctx context.Context) (context.Context, *turn) {
	if ctx.Err() != nil {
		return nil, nil
	}
	i := slices.IndexFunc(s.pending, func(t *turn) bool { return !s.talking[t.dialogue] })
	if i < 0 {
		return nil, nil
	}
	t := s.pending[i]
	s.pending = slices.Delete(s.pending, i, i+1)
	life, cancel := context.WithCancelCause(ctx)
	t.cancel = cancel
	s.running[t.job.Run] = t
	s.talking[t.dialogue] = true
	return life, t
}

func (s *schedule) finish(t *turn) {
	t.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, t.job.Run)
	delete(s.talking, t.dialogue)
	s.wake()
}

// cancel stops a running turn, or takes a pending one out and returns it for its terminal to be written.
func (s *schedule) cancel(r id.Run) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.running[r]; t != nil {
		t.cancel(errCancelled)
		return nil
	}
	i := slices.IndexFunc(s.pending, func(t *turn) bool { return t.job.Run == r })
	if i < 0 {
		return nil
	}
	t := s.pending[i]
	s.pending = slices.Delete(s.pending, i, i+1)
	return t
}

func (s *schedule) live() []id.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := make([]id.Run, 0, len(s.running)+len(s.pending))
	for r := range s.running {
		live = append(live, r)
	}
	for _, t := range s.pending {
		live = append(live, t.job.Run)
	}
	slices.Sort(live)
	return live
}

// wake lets every waiting place look again. Callers hold mu.
func (s *schedule) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
