package httpapi

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// serve sends page after page, and waits when it has sent everything. It returns nil after the run's outcome.
func (s *stream) serve(page runlog.EventPage) (err error) {
	clocks := s.Pace.clocks(s.Pace.KeepAlive)
	defer clocks.stop()
	for {
		if s.Epoch() != s.epoch {
			return s.sayReset(page.Last)
		}
		if len(page.Events) > 0 || len(s.buf) > 0 {
			if err := s.send(page.Events); err != nil {
				return err
			}
			clocks.spoken()
		}
		if len(page.Events) == 0 && s.after < page.Last {
			return fmt.Errorf("%w: nothing comes after %d", runlog.ErrHole, s.after)
		}
		if s.after >= page.Last {
			if s.over {
				return nil
			}
			if _, err := s.wait(clocks, nil); err != nil {
				return err
			}
		}
		switch page, err = s.read(); fault.CodeOf(err) {
		case "":
		case fault.NotFound:
			return errEnded
		case fault.EventsExpired:
			return errLeft // it was too slow; when it comes back it is told
		default:
			return err
		}
	}
}

// read gets what comes next. That the reader may still have it is checked behind the read: whoever was removed before an event was
// committed is not sent it (SEC13). Of events that the tail has seen it would have seen the removal first, so the store need not be asked.
func (s *stream) read() (page runlog.EventPage, err error) {
	head := runlog.EventSeq(s.follower.Head())
	if head > s.after {
		page, err = s.page.Events(s.ctx, s.Runs, s.after, head)
	} else {
		page, err = s.Runs.Events(s.ctx, s.run, s.after, streamPage)
	}
	if err != nil {
		return page, err
	}
	if s.follower.Left() || head <= s.after {
		if err := s.policy.member(s.ctx, s.who.User, s.session); err != nil {
			return page, err
		}
	}
	return page, sight{edges: s.Edges, user: s.who.User}.adapt(s.ctx, page.Events)
}
