package omni

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// runEnded ends what is open of a run as the run ended (R34), its sub-agents' first, and forgets it. Of one that never began it says nothing, unless
// it has the floor to say it: a session of its own it never had.
func (s *State) runEnded(f Fact) {
	if t := s.thread(f.Run.ID); (t == nil || t.Queued) && (f.Run.Parent != "" || s.kept.Holder != "") {
		s.forget(f.Run.ID)
		return
	}
	if s.kept.Imported { // the lines of the trace have said how it ended
		s.forget(f.Run.ID)
		return
	}
	t := s.of(f.Run)
	e := endOf(f)
	for _, name := range t.Order {
		if sub := t.Subs[name]; sub.busy() {
			s.finish(sub, e)
		}
	}
	main := s.main(t)
	if e.stop != omni.Completed && e.stop != omni.Aborted {
		s.fail(main)
	}
	s.finish(main, e)
	if e.stop == omni.Aborted {
		s.tell(main, omni.Abort(t.Why))
	}
	s.forget(t.Run)
}

// forget forgets a run that has ended.
func (s *State) forget(run id.Run) {
	if t := s.thread(run); t != nil {
		t.Ended, t.Asked, t.Decided = true, nil, nil
	}
	s.kept.Steers = slices.DeleteFunc(s.kept.Steers, func(w Steer) bool { return w.Run == run })
	if s.kept.Holder == run {
		s.kept.Holder = ""
	}
	s.dismiss()
}

// fail sees to it that there is a request that has failed: nothing else tells that a run did.
func (s *State) fail(in *session) {
	if in.Open == nil && (!in.Request.Stated || !in.Request.Failed) {
		s.begin(in)
	}
}

func (in *session) busy() bool {
	return in.Open != nil || in.Request.Open || len(in.Written) > 0 || in.Compacting != nil || len(in.Calls) > 0 || !in.Spent.IsZero()
}

// finish ends the work of a session for a run: what the model says, its usage and its request, and the calls that have not returned, in their order.
func (s *State) finish(in *session, e end) {
	s.close(in, e.reason())
	s.closeWritten(in, e.reason())
	in.Message, in.Told = "", told{}
	if !in.Spent.IsZero() {
		s.requestBegins(in) // usage is of a request: one that has ended has been told without
		s.use(in, in.Spent)
		in.Spent = omni.TokenCounts{}
	}
	s.requestEnds(in, e)
	for len(in.Calls) > 0 {
		c, r := in.Calls[0], returning{reason: unreturned(e.stop)}
		if c.Kept != nil {
			r = returning{output: c.Kept.Output, reason: c.Kept.Reason}
		}
		s.answer(in, c, r)
	}
	if in.Compacting != nil {
		s.compacted(in, end{stop: orFailed(e.stop), failure: e.failure})
	}
	in.Request = request{Number: in.Request.Number}
}

// unreturned is how a call ended that had not returned when its run ended.
func unreturned(stop omni.StopReason) omni.StopReason {
	if stop == omni.Auth {
		return omni.Failed
	}
	return orFailed(stop)
}

// orFailed is how something ended that was not over when the rest had ended well.
func orFailed(stop omni.StopReason) omni.StopReason {
	if stop == omni.Completed {
		return omni.Failed
	}
	return stop
}

// endOf is the end that a run's outcome is.
func endOf(f Fact) end {
	var failure event.ErrorObj
	switch f.Event {
	case event.RunFailed:
		p, _ := read[event.RunFailedPayload](f) // that the run failed is said by the type
		failure = p.Error
	case event.RunInterrupted:
		p, _ := read[event.RunInterruptedPayload](f)
		failure = event.ErrorObj{
			Code:    p.ReasonCode,
			Message: fmt.Sprintf("The run was cut off and nobody knows how far its last step got (%s).", p.ReasonCode),
		}
	}
	e := end{failure: failure.Message}
	if failure.Code == fault.AuthRequired {
		e.stop = omni.Auth
		return e
	}
	for _, row := range run.Endings() {
		if row.Terminal == f.Event && (row.Code == "" || row.Code == failure.Code) {
			e.stop = omni.StopReason(row.Stop)
		}
	}
	return e
}

// endOfWork is the end of a sub-agent.
func endOfWork(status event.WorkStatus, failure *event.ErrorObj) end {
	e := end{stop: omni.Completed}
	switch status {
	case event.WorkFailed:
		e.stop = omni.Failed
	case event.WorkCancelled, event.WorkSkipped:
		e.stop = omni.Aborted
	}
	if failure != nil && e.stop == omni.Failed {
		e.failure = failure.Message
		if failure.Code == fault.Timeout {
			e.stop = omni.Timeout
		}
	}
	return e
}
