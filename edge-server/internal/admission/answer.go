package admission

import (
	"context"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// receiveAnswer takes a person's answer to a prompt. It is on disk before the agent gets it, and the process that asked gets it once: after a
// crash in between that process is gone, and the hub takes the answer to the next one (recover).
func (a *Admission) receiveAnswer(ctx context.Context, c wire.Command) (wire.CommandReceipt, error) {
	return a.pass(ctx, c, func() (func(), error) { return a.take(c) })
}

// pass has a run told something: take says how, and it is done once the receipt is on disk. What the run cannot be told is refused by its receipt.
func (a *Admission) pass(ctx context.Context, c wire.Command, take func() (deliver func(), err error)) (wire.CommandReceipt, error) {
	why, err := a.judge(ctx, c)
	switch {
	case err != nil:
		return wire.CommandReceipt{}, err
	case why != nil:
		return a.reject(ctx, c, why)
	}
	deliver, err := take()
	switch code := fault.CodeOf(err); {
	case code == fault.UnsupportedByRuntime || code == fault.Unsupported:
		r := receipt(c, wire.Unsupported, fault.Public(err))
		return r, a.journal.AnswerAgain(ctx, c, r)
	case err != nil:
		return a.reject(ctx, c, fault.Public(err))
	}
	r := receipt(c, wire.Accepted, nil)
	if err := a.journal.AnswerAgain(ctx, c, r); err != nil {
		return r, err
	}
	deliver()
	return r, nil
}

// take reserves the prompt for the answer. Errors are faults.
func (a *Admission) take(c wire.Command) (deliver func(), err error) {
	var answer wire.Answer
	if err := json.Unmarshal(c.Body, &answer); err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The answer cannot be read.")
	}
	if err := answer.Check(); err != nil {
		return nil, err
	}
	process := a.schedule.process(c.RunID)
	if process == nil {
		return nil, fault.New(fault.NotFound, "The run has no process that could have asked.")
	}
	return process.Answer(answer)
}

// process returns the process of a running turn; nil if it has none, or none yet.
func (s *schedule) process(r id.Run) Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.running[r]; t != nil {
		return t.process
	}
	return nil
}
