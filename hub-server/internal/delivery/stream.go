package delivery

import (
	"context"
	"fmt"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Stream is everything that one connection hears, in order, from a position on. It is attached, fed by the tail through a bounded
// queue, or catching up, reading pages from the store; a full queue moves it back, so that a slow reader costs bounded memory and
// misses nothing. One goroutine reads: it waits for Ready, then calls Next. Close it at the end.
type Stream struct {
	tail   *Tail
	member *member
	ready  chan struct{}
	window Position // positions of the next page; owned by the reader

	mu       sync.Mutex
	attached bool
	queue    []entry // of an attached stream
	queued   int     // bytes in queue
	frames   int     // in queue
	pos      Position
}

// entry is a row's frames on their way to the reader; an ephemeral has no position.
type entry struct {
	frames []Frame
	bytes  int
	pos    Position
}

// Open returns the stream of what comes after a position for a user. It starts catching up.
func (t *Tail) Open(ctx context.Context, user id.User, from Position) (*Stream, error) {
	select {
	case <-t.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	m, err := t.enter(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	t.metrics.streams.Inc()
	s := &Stream{tail: t, member: m, ready: make(chan struct{}, 1), window: firstWindow, pos: from}
	signal(s.ready)
	return s, nil
}

// enter returns the user's member with its conversations as of the tail's position. The first stream of a user loads them.
func (t *Tail) enter(ctx context.Context, user id.User) (*member, error) {
	t.mu.Lock()
	m, first := t.roster.open(user)
	at := t.pos
	t.mu.Unlock()
	if first {
		sessions, err := t.outbox.SessionsOf(ctx, user, at)
		t.mu.Lock()
		t.roster.settle(m, sessions, err)
		t.mu.Unlock()
	}
	var err error
	select {
	case <-m.loaded:
		err = m.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		t.mu.Lock()
		t.roster.close(m)
		t.mu.Unlock()
		return nil, err
	}
	return m, nil
}

// Close ends the stream. Next must not be called any more.
func (s *Stream) Close() {
	t := s.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	s.free()
	delete(s.member.streams, s)
	t.roster.close(s.member)
	t.metrics.streams.Dec()
}

// Ready has a value when Next has something to do.
func (s *Stream) Ready() <-chan struct{} { return s.ready }

// Next returns the frames that come next, whole rows in position order, possibly none. It reads the store while the stream is catching
// up, else it does not block. Once all of them are written, the connection has everything up to Position.
func (s *Stream) Next(ctx context.Context) ([]Frame, error) {
	if frames, attached := s.take(); attached {
		return frames, nil
	}
	return s.catchUp(ctx)
}

// take empties the queue of an attached stream.
func (s *Stream) take() (frames []Frame, attached bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	frames = make([]Frame, 0, s.frames)
	for _, e := range s.queue {
		frames = append(frames, e.frames...)
		s.pos = max(s.pos, e.pos)
	}
	s.dropQueue()
	return frames, s.attached
}

// Cursor is the cursor of Position.
func (s *Stream) Cursor() Cursor { return NewCursor(s.tail.epoch(), s.Position()) }

// Position is how far the frames returned by Next have brought the connection: there is nothing for it between them and here. It is the
// cursor of a client that has applied them all.
func (s *Stream) Position() Position {
	tail := s.tail.Position() // first: all up to there is in the queue or taken
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached && len(s.queue) == 0 {
		s.pos = max(s.pos, tail)
	}
	return s.pos
}

// offer queues a row's frames; false means that they do not fit. The tail's lock is held.
func (s *Stream) offer(frames []Frame, p Position) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p <= s.pos || len(frames) == 0 {
		return true // it began ahead of this hub's tail
	}
	size := sizeOf(frames)
	if s.queued+size > s.tail.room {
		return false
	}
	s.push(entry{frames, size, p})
	return true
}

// offerEphemeral takes a frame only while the queue is less than half full.
func (s *Stream) offerEphemeral(frames []Frame) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := sizeOf(frames)
	if s.queued+size > s.tail.room/2 {
		return false
	}
	s.push(entry{frames: frames, bytes: size})
	return true
}

func (s *Stream) push(e entry) {
	s.queue = append(s.queue, e)
	s.queued += e.bytes
	s.frames += len(e.frames)
	s.tail.metrics.queueBytes.Add(float64(e.bytes))
	signal(s.ready)
}

// dropQueue forgets what is queued. The lock is held.
func (s *Stream) dropQueue() {
	s.tail.metrics.queueBytes.Add(-float64(s.queued))
	s.queue, s.queued, s.frames = nil, 0, 0
}

// detach moves a slow stream back to catching up and frees its queue. The tail's lock is held.
func (t *Tail) detach(s *Stream) {
	t.metrics.overflows.Inc()
	delete(s.member.streams, s)
	s.free()
	signal(s.ready)
}

// free ends being attached. What lies before the first queued row needs no second look. The tail's lock is held.
func (s *Stream) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.queue {
		if e.pos != 0 {
			s.pos = max(s.pos, e.pos-1)
			break
		}
	}
	s.dropQueue()
	s.attached = false
}
