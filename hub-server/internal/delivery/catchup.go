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
			frames, _ := s.take()
			return frames, nil
		}
		frames, err := s.page(ctx, upTo)
		if err != nil {
			return nil, fmt.Errorf("catch up after %d: %w", s.pos, err)
		}
		if len(frames) > 0 {
			signal(s.ready)
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

// page reads and expands the next rows, and moves the stream behind them. Looking at a window of positions at a time keeps a page cheap
// however much lies ahead.
func (s *Stream) page(ctx context.Context, upTo Position) ([]Frame, error) {
	t := s.tail
	upTo = min(upTo, s.pos+s.window)
	rows, err := t.outbox.RowsFor(ctx, s.member.user, s.pos, upTo, pageRows)
	if err != nil {
		return nil, err
	}
	t.metrics.pages.Inc()
	frames, done, err := s.expand(ctx, rows)
	if err != nil {
		return nil, err
	}
	switch {
	case done < len(rows) || len(rows) == pageRows:
		s.moveTo(rows[done-1].Position)
	default:
		s.moveTo(upTo)
		s.window = min(2*s.window, maxWindow)
	}
	return frames, nil
}

// expand turns rows into frames until they are a page; done says how many rows that took, at least one if there are any.
func (s *Stream) expand(ctx context.Context, rows []Row) (frames []Frame, done int, err error) {
	for size := 0; done < len(rows) && size < pageBytes; done++ {
		row := rows[done]
		expansion, err := s.tail.expand.Expand(ctx, row)
		if err != nil {
			return nil, 0, fmt.Errorf("expand row %d: %w", row.Position, err)
		}
		expanded := s.tail.encode(row, expansion).of(s.member.user)
		size += sizeOf(expanded)
		frames = append(frames, expanded...)
	}
	return frames, done, nil
}

func (s *Stream) moveTo(p Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pos = p
}
