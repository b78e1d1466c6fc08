package admission

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/crashpoint"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// maxHeld bounds what a run that has not started is told: it all has to go into the pipe of a process at once (process.Input), beside its turn.
const maxHeld = 128

// receiveControl takes something that a run is told while it works. It is on disk before the agent hears it, and the agent hears it once at most:
// after a crash in between its process is gone. What a run is told before it starts, it hears when it does, also from the next edge process.
func (a *Admission) receiveControl(ctx context.Context, c wire.Command) (wire.CommandReceipt, error) {
	return a.pass(ctx, c, func() (func(), error) {
		deliver, err := a.takeOrder(c)
		return func() {
			crashpoint.Reach(crashpoint.OrderRecorded)
			deliver()
		}, err
	})
}

// takeOrder says how the run will hear what it is told. Errors are faults.
func (a *Admission) takeOrder(c wire.Command) (deliver func(), err error) {
	var o wire.ControlOrder
	if err := json.Unmarshal(c.Body, &o); err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "What the run is told cannot be read.")
	}
	if o.What == wire.ControlApprovalMode {
		o.Mode = approval(o.Mode)
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	t, process, held := a.schedule.find(c.RunID)
	switch {
	case t == nil:
		return nil, fault.New(fault.TooLate, "The run has just ended.")
	case process != nil:
		return process.Control(o)
	case !a.opts.Profiles.Takes(t.job.Profile, o.What):
		return nil, fault.New(fault.UnsupportedByRuntime, "Agents of the profile %.80q cannot be told this while they work.", t.job.Profile)
	case held >= maxHeld:
		return nil, fault.New(fault.Busy, "The run has not started, and was told too much already.")
	}
	return func() { a.schedule.tell(t, o) }, nil
}

// find returns a turn that waits or runs, its process if it has one, and how much it was told before that. nil if it does neither.
func (s *schedule) find(r id.Run) (t *turn, p Process, held int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.running[r]; t == nil {
		for _, q := range s.waiting {
			if i := slices.IndexFunc(q.turns, func(t *turn) bool { return t.job.Run == r }); i >= 0 {
				t = q.turns[i]
			}
		}
	}
	if t == nil {
		return nil, nil, 0
	}
	return t, t.process, len(t.held)
}

// tell lets a turn that had no process hear an order: at once if it has one now, else when it has.
func (s *schedule) tell(t *turn, o wire.ControlOrder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.process == nil {
		t.held = append(t.held, o)
		return
	}
	deliver(t.process, o)
}

// started notes the process of a running turn, which hears what the turn was told before.
func (s *schedule) started(t *turn, p Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.process = p
	for _, o := range t.held {
		deliver(p, o)
	}
	t.held = nil
}

// deliver tells a process what was taken for it before it was there. One that cannot hear it is not told: what people said to it shows as not taken.
func deliver(p Process, o wire.ControlOrder) {
	if say, err := p.Control(o); err == nil {
		say()
	}
}
