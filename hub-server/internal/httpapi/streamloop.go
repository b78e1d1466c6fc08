package httpapi

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// serve sends page after page, and waits when it has sent everything. It returns nil after the run's outcome.
func (s *stream) serve(page runlog.EventPage) (err error) {
	keep, poll := time.NewTimer(s.Pace.KeepAlive), time.NewTicker(s.Pace.Poll)
	alive := time.NewTicker(s.Pace.Alive)
	defer keep.Stop()
	defer poll.Stop()
	defer alive.Stop()
	for {
		if s.Epoch() != s.epoch {
			return s.sayReset(page.Last)
		}
		if len(page.Events) > 0 || len(s.buf) > 0 {
			if err := s.send(page.Events); err != nil {
				return err
			}
			keep.Reset(s.Pace.KeepAlive)
		}
		if len(page.Events) == 0 && s.after < page.Last {
			return fmt.Errorf("%w: nothing comes after %d", runlog.ErrHole, s.after)
		}
		if s.after >= page.Last {
			if s.over {
				return nil
			}
			if err := s.wait(keep, poll.C, alive.C); err != nil {
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

// wait returns when there may be something to read.
func (s *stream) wait(keep *time.Timer, poll, alive <-chan time.Time) error {
	for {
		select {
		case <-s.ctx.Done():
			return errGone
		case <-s.follower.Gone():
			return errEnded
		case <-s.follower.Ready():
			return nil
		case <-poll:
			return nil
		case <-keep.C:
			if err := s.write([]byte(canonical.KeepAlive)); err != nil {
				return err
			}
			keep.Reset(s.Pace.KeepAlive)
		case <-alive:
			if err := s.checkLogin(); err != nil {
				return err
			}
		}
	}
}

// checkLogin asks whether the login behind the stream still stands (SEC8). When nobody knows, it is asked again next time.
func (s *stream) checkLogin() error {
	alive, err := s.Devices.FamilyAlive(s.ctx, s.who.Family)
	if err == nil && !alive {
		return errEnded
	}
	return nil
}
