package delivery

import (
	"context"
	"fmt"
	"sync"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// keptQueue is the room in batches that an idle stream's queue keeps.
const keptQueue = 4

// Stream is everything that one connection hears, in order, from a position on. It is attached, fed by the tail through a bounded
// queue, or catching up, reading pages from the store; a full queue moves it back, so that a slow reader costs bounded memory and
// misses nothing. One goroutine at a time reads: it waits for Ready, or is called by Notify, then calls Next or Take. Close it at the end.
type Stream struct {
	tail   *Tail
	member *member
	ready  chan struct{}
	window Position // positions of the next page; owned by the reader

	mu       sync.Mutex
	notify   func() // nil: ready gets a value
	attached bool
	queue    []*batch // of an attached stream
	queued   int      // bytes in queue
	pos      Position
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
	s.wake()
	return s, nil
}

// Notify has wake called from now on whenever Ready would have a value, and at once. It must not block and not call the stream.
func (s *Stream) Notify(wake func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notify, s.ready = wake, nil
	wake()
}

// wake says that there is something to do. The lock is held, or nobody else has the stream yet.
func (s *Stream) wake() {
	if s.notify != nil {
		s.notify()
		return
	}
	signal(s.ready)
}

// enter returns the user's member with its conversations as of the tail's position. The first stream of a user loads them. When that fails, the others
// that wait for it try themselves: it may have failed because the first one's client has gone.
func (t *Tail) enter(ctx context.Context, user id.User) (*member, error) {
	for {
		m, first, err := t.tryEnter(ctx, user)
		if err == nil || first || ctx.Err() != nil {
			return m, err
		}
	}
}

func (t *Tail) tryEnter(ctx context.Context, user id.User) (m *member, first bool, err error) {
	t.mu.Lock()
	m, first = t.roster.open(user)
	at := t.pos
	t.mu.Unlock()
	if first {
		sessions, failure := t.outbox.SessionsOf(ctx, user, at)
		t.mu.Lock()
		t.roster.settle(m, sessions, failure)
		t.mu.Unlock()
	}
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
		return nil, first, err
	}
	return m, first, nil
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
	if frames, attached := s.Take(nil); attached {
		return frames, nil
	}
	return s.catchUp(ctx)
}

// Take appends what is queued for an attached stream to dst; false means that the stream must catch up, which is Next's. It does not block.
func (s *Stream) Take(dst []Frame) (frames []Frame, attached bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.queue {
		for _, e := range b.entries {
			if e.pos != 0 && e.pos <= s.pos {
				continue // the stream began inside of the batch
			}
			dst = append(dst, e.frames...)
			s.pos = max(s.pos, e.pos)
		}
	}
	s.dropQueue()
	return dst, s.attached
}

// Attached says whether the tail feeds the stream.
func (s *Stream) Attached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached
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

// offer queues a batch; false means that it does not fit. The tail's lock is held.
func (s *Stream) offer(b *batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b.entries) == 0 || b.last() <= s.pos {
		return true // it began ahead of this hub's tail
	}
	if s.queued+b.bytes > s.tail.room {
		return false
	}
	s.push(b)
	return true
}

// offerEphemeral takes a frame only while the queue is less than half full.
func (s *Stream) offerEphemeral(b *batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued+b.bytes > s.tail.room/2 {
		return false
	}
	s.push(b)
	return true
}

func (s *Stream) push(b *batch) {
	s.queue = append(s.queue, b)
	s.queued += b.bytes
	s.tail.queued.Add(int64(b.bytes))
	s.wake()
}

// dropQueue forgets what is queued, and keeps a little room for what comes next. The lock is held.
func (s *Stream) dropQueue() {
	if len(s.queue) == 0 {
		return
	}
	s.tail.queued.Add(-int64(s.queued))
	s.queued = 0
	if cap(s.queue) > keptQueue {
		s.queue = nil
		return
	}
	clear(s.queue)
	s.queue = s.queue[:0]
}

// detach moves a slow stream back to catching up and frees its queue. The tail's lock is held.
func (t *Tail) detach(s *Stream) {
	t.metrics.overflows.Inc()
	delete(s.member.streams, s)
	s.free()
}

// free ends being attached. What lies before the first queued row needs no second look. The tail's lock is held.
func (s *Stream) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.queue {
		if first := b.first(); first != 0 {
			s.pos = max(s.pos, first-1)
			break
		}
	}
	s.dropQueue()
	s.attached = false
	s.wake()
}
