package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
)

// send writes events, and what was gathered before them, in as few writes as their size allows.
func (s *stream) send(events []runlog.StoredEvent) error {
	for _, e := range events {
		if e.Seq != s.after+1 {
			return fmt.Errorf("%w: %d comes after %d", runlog.ErrHole, e.Seq, s.after)
		}
		s.buf = s.projection.AppendFrame(s.buf, e)
		s.after = e.Seq
		s.over = s.over || e.Type.Terminal() && !e.Late
		if len(s.buf) >= writeAt {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

func (s *stream) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	err := s.write(s.buf)
	s.buf = s.buf[:0]
	if cap(s.buf) > 2*writeAt {
		s.buf = nil
	}
	return err
}

// write sends bytes on their way at once. A client that takes none of them in time is given up: it may come back and go on.
func (s *stream) write(data []byte) error {
	err := s.out.SetWriteDeadline(time.Now().Add(s.Pace.Write))
	if err == nil {
		_, err = s.w.Write(data)
	}
	if err == nil {
		err = s.out.Flush()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	}
	return fmt.Errorf("%w: %w", errGone, err)
}

// sayReset tells the client that its cursor is of another life of the store.
func (s *stream) sayReset(last runlog.EventSeq) (err error) {
	if s.buf, err = canonical.AppendReset(s.buf, s.Epoch(), last); err != nil {
		return err
	}
	return cmp.Or(s.flush(), errStale)
}
