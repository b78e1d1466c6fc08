package admission

import (
	"context"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Bounds of what waits; beyond them a start is answered with busy. One dialogue cannot take all the room.
const (
	maxPending         = 1024
	maxPendingDialogue = 256
)

// schedule decides which run starts next. At most `places` work at once, at most its profile's limit of each profile, and one per dialogue,
// because an agent takes one turn after the other. Dialogues take turns: one that has had its start goes behind all that wait, so that
// a hundred messages of one conversation hold up the others by no more than one. Within a dialogue the order is that of admission.
type schedule struct {
	places int
	limit  func(profile string) int // 0 is none

	mu      sync.Mutex
	waiting []*queue // one per dialogue that has turns to start; the first that may start is next
	pending int      // turns in them
	running map[id.Run]*turn
	talking map[journal.Dialogue]bool // dialogues of the running turns
	busy    map[string]int            // running turns by profile
	changed chan struct{}             // closed and replaced when a waiting place should look again
}

// queue is the turns of one dialogue that have not started, oldest first. It is never empty.
type queue struct {
	dialogue journal.Dialogue
	turns    []*turn
}

func newSchedule(places int, limit func(profile string) int) *schedule {
	return &schedule{
		places: places, limit: limit, running: map[id.Run]*turn{}, talking: map[journal.Dialogue]bool{}, busy: map[string]int{},
		changed: make(chan struct{}),
	}
}

func (s *schedule) add(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queueOf(t.dialogue)
	if q == nil {
		q = &queue{dialogue: t.dialogue}
		s.waiting = append(s.waiting, q)
	}
	q.turns = append(q.turns, t)
	s.pending++
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

// pick takes the first turn of the first dialogue that may have one. Callers hold mu.
func (s *schedule) pick(ctx context.Context) (context.Context, *turn) {
	if ctx.Err() != nil || len(s.running) >= s.places {
		return nil, nil
	}
	i := slices.IndexFunc(s.waiting, s.mayStart)
	if i < 0 {
		return nil, nil
	}
	q := s.waiting[i]
	t := q.turns[0]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	if q.turns = q.turns[1:]; len(q.turns) > 0 {
		s.waiting = append(s.waiting, q)
	}
	s.pending--
	life, cancel := context.WithCancelCause(ctx)
	t.cancel = cancel
	s.running[t.job.Run] = t
	s.talking[t.dialogue] = true
	s.busy[t.dialogue.Profile]++
	return life, t
}

// mayStart says whether a turn of the queue may start if there is a place for it. Callers hold mu.
func (s *schedule) mayStart(q *queue) bool {
	limit := s.limit(q.dialogue.Profile)
	return !s.talking[q.dialogue] && (limit == 0 || s.busy[q.dialogue.Profile] < limit)
}

func (s *schedule) finish(t *turn) {
	t.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, t.job.Run)
	delete(s.talking, t.dialogue)
	if s.busy[t.dialogue.Profile]--; s.busy[t.dialogue.Profile] == 0 {
		delete(s.busy, t.dialogue.Profile)
	}
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
	for i, q := range s.waiting {
		j := slices.IndexFunc(q.turns, func(t *turn) bool { return t.job.Run == r })
		if j < 0 {
			continue
		}
		t := q.turns[j]
		if q.turns = slices.Delete(q.turns, j, j+1); len(q.turns) == 0 {
			s.waiting = slices.Delete(s.waiting, i, i+1)
		}
		s.pending--
		return t
	}
	return nil
}

func (s *schedule) live() []id.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := make([]id.Run, 0, len(s.running)+s.pending)
	for r := range s.running {
		live = append(live, r)
	}
	for _, q := range s.waiting {
		for _, t := range q.turns {
			live = append(live, t.job.Run)
		}
	}
	slices.Sort(live)
	return live
}

// queueOf is nil if nothing of the dialogue waits. Callers hold mu.
func (s *schedule) queueOf(d journal.Dialogue) *queue {
	i := slices.IndexFunc(s.waiting, func(q *queue) bool { return q.dialogue == d })
	if i < 0 {
		return nil
	}
	return s.waiting[i]
}

// lookAgain lets every waiting place look again: a limit may be another.
func (s *schedule) lookAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// wake lets every waiting place look again. Callers hold mu.
func (s *schedule) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
