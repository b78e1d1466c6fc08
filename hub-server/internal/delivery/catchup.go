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
	page := make([]*passed, len(rows))
	for i, row := range rows {
		page[i] = &passed{row: row}
	}
	if len(rows) == pageRows {
		upTo = rows[len(rows)-1].Position
	} else {
		s.window = min(2*s.window, maxWindow)
	}
	return s.expandTo(ctx, page, upTo)
}

// expandTo turns rows into frames until they are a page, at least one row if there are any, and moves the stream behind them; behind all of
// them the stream has come to reach.
func (s *Stream) expandTo(ctx context.Context, rows []*passed, reach Position) ([]Frame, error) {
	frames, size := make([]Frame, 0, len(rows)), 0
	for i := range rows {
		if size >= pageBytes {
			reach = rows[i-1].row.Position
			break
		}
		expanded, err := s.tail.encoded(ctx, rows[i])
		if err != nil {
			return nil, err
		}
		seen := expanded.of(s.member.user)
		size += sizeOf(seen)
		frames = append(frames, seen...)
	}
	s.moveTo(reach)
	return frames, nil
}

// encoded returns the frames of a row that lies behind the tail.
func (t *Tail) encoded(ctx context.Context, p *passed) (rowFrames, error) {
	if p.encoded {
		return p.frames, nil
	}
	expansion, err := t.expand.Expand(ctx, p.row)
	if err != nil {
		return rowFrames{}, fmt.Errorf("expand row %d: %w", p.row.Position, err)
	}
	frames := t.encode(p.row, expansion)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent.encode(p.row.Position, frames)
	return frames, nil
}

func (s *Stream) moveTo(p Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pos = p
}
