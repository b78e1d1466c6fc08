package httpapi

import (
	"cmp"
	"fmt"

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
		if err := s.gathered(); err != nil {
			return err
		}
	}
	return s.flush()
}

// sayReset tells the client that its cursor is of another life of the store.
func (s *stream) sayReset(last runlog.EventSeq) (err error) {
	if s.buf, err = canonical.AppendReset(s.buf, s.Epoch(), last); err != nil {
		return err
	}
	return cmp.Or(s.flush(), errStale)
}
