package delivery

import (
	"context"
	"fmt"
)

const (
	pageRows    = 256
	pageBytes   = 256 << 10
	firstWindow = 4096    // positions that the first page looks at
	maxWindow   = 1 << 20 // … and an empty stretch makes it grow to this
)

// catchUp returns the next page of a stream that is not attached, or attaches it when there is none left before the tail.
func (s *Stream) catchUp(ctx context.Context) ([]Frame, error) {
	select {
	case s.tail.catchUps <- struct{}{}:
		defer func() { <-s.tail.catchUps }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for {
		upTo, attached := s.attach()
		if attached {
			frames, _ := s.Take(nil)
			return frames, nil
		}
		frames, err := s.page(ctx, upTo)
		if err != nil {
			return nil, fmt.Errorf("catch up after %d: %w", s.pos, err)
		}
		if len(frames) > 0 {
			s.again()
			return frames, nil
		}
	}
}

// attach makes the tail feed the stream if the stream has come as far as the tail; otherwise it returns how far that is.
func (s *Stream) attach() (upTo Position, attached bool) {
	t := s.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pos < t.pos {
		return t.pos, false
	}
	s.attached = true
	s.window = firstWindow
	s.member.streams[s] = struct{}{}
	return t.pos, true
}

// again says that there is more to do.
func (s *Stream) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// page returns the next frames and moves the stream behind them: out of memory if they have just passed the tail, else from the store.
func (s *Stream) page(ctx context.Context, upTo Position) ([]Frame, error) {
	if rows, reach, ok := s.fromRecent(upTo); ok {
		s.tail.metrics.recentPages.Inc()
		return s.expandTo(ctx, rows, reach)
	}
	return s.pageOfStore(ctx, upTo)
}

// pageOfStore reads and expands the next rows. Looking at a window of positions at a time keeps a page cheap however much lies ahead.
func (s *Stream) pageOfStore(ctx context.Context, upTo Position) ([]Frame, error) {
	t := s.tail
	upTo = min(upTo, s.pos+s.window)
	rows, err := t.outbox.RowsFor(ctx, s.member.user, s.pos, upTo, pageRows)
	if err != nil {
		return nil, err
	}
	t.metrics.pages.Inc()
	if len(rows) == pageRows {
		upTo = rows[len(rows)-1].Position
	} else {
		s.window = min(2*s.window, maxWindow)
	}
	return s.expandTo(ctx, allPassed(rows), upTo)
}

// expandTo turns rows into a page of frames and moves the stream behind them; behind all of them the stream has come to reach.
func (s *Stream) expandTo(ctx context.Context, rows []*passed, reach Position) ([]Frame, error) {
	frames, done, err := s.tail.pageOf(ctx, s.member.user, rows)
	if err != nil {
		return nil, err
	}
	if done < len(rows) {
		reach = rows[done-1].row.Position
	}
	s.moveTo(reach)
	return frames, nil
}

func (s *Stream) moveTo(p Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pos = p
}
