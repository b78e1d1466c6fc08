package events

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// End applies the precedence of S4 (R14): timeout, then the agent's own error, then the exit code, then what the agent said of its success.
// Unlike there, silence is no success: an agent that exits without done has not finished, unless it spoke in lines of the bridge protocol.
func (d *dialogue) End(end runtime.End) ([]run.AgentEvent, run.Outcome) {
	events := d.usage(end)
	switch {
	case len(end.Pending) > 0:
		return append(events, d.unheard()...), run.ProcessEnded(end.Why, end.Pending)
	case end.Cancelled:
		return append(events, d.unheard()...), run.Cancelled(end.Gone)
	}
	if failure := d.failed(end); failure != nil {
		return append(append(events, d.unheard()...), run.Failure{ErrorObj: *failure}), run.Failed(*failure)
	}
	return append(events, *d.answer()), run.Completed()
}

// usage is what a result or error of the bridge protocol brought.
func (d *dialogue) usage(end runtime.End) []run.AgentEvent {
	usage := d.bridge.Finish(bridge.Exit{}).Usage
	if usage == nil {
		return nil
	}
	return []run.AgentEvent{run.Fact{Type: event.AgentResult, Payload: event.AgentResultPayload{Usage: usage, ExitCode: &end.Code}}}
}

// answer is what the agent ended its turn with; nil if it has not.
func (d *dialogue) answer() *run.Done {
	switch {
	case d.done != nil && d.result != nil:
		return &run.Done{Answer: cmp.Or(d.done.Answer, d.result.Answer)}
	case d.done != nil:
		return d.done
	case d.result != nil:
		return d.result
	case d.bridged:
		return &run.Done{}
	}
	return nil
}

func (d *dialogue) failed(end runtime.End) *event.ErrorObj {
	// The sentences for these are the bridge protocol's: the same people read them.
	o := bridge.NewTurnState(bridge.Profile{}).Finish(bridge.Exit{Code: end.Code, TimedOut: end.TimedOut, Stderr: end.Stderr})
	switch {
	case !end.TimedOut && d.failure != nil:
		return d.failure
	case !o.OK():
		return &event.ErrorObj{Code: o.Code, Message: o.Message}
	case d.answer() == nil:
		return &event.ErrorObj{Code: fault.AgentExited, Message: "The agent ended without saying that it was done."}
	}
	return nil
}

// unheard is an answer that was only in done or result, so that a run which ends otherwise does not lose it.
func (d *dialogue) unheard() []run.AgentEvent {
	answer := d.answer()
	if answer == nil || d.spoken || answer.Answer == "" {
		return nil
	}
	return []run.AgentEvent{run.Delta{Text: answer.Answer}}
}
