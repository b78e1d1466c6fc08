package events

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// End applies the precedence of S4 (R14): timeout, then the agent's own error, then the exit code, then what the agent said of its success.
// Unlike there, silence is no success: an agent that exits without done has not finished.
func (d *dialogue) End(end runtime.End) ([]run.AgentEvent, run.Outcome) {
	if end.Cancelled {
		return d.unheard(), run.Cancelled(end.Gone)
	}
	if failure := d.failed(end); failure != nil {
		return append(d.unheard(), run.Failure{ErrorObj: *failure}), run.Failed(*failure)
	}
	return []run.AgentEvent{*d.done}, run.Completed()
}

func (d *dialogue) failed(end runtime.End) *event.ErrorObj {
	// The sentences for these are the bridge protocol's: the same people read them.
	o := bridge.NewTurnState(bridge.Profile{}).Finish(bridge.Exit{Code: end.Code, TimedOut: end.TimedOut, Stderr: end.Stderr})
	switch {
	case !end.TimedOut && d.failure != nil:
		return d.failure
	case !o.OK():
		return &event.ErrorObj{Code: o.Code, Message: o.Message}
	case d.done == nil:
		return &event.ErrorObj{Code: fault.AgentExited, Message: "The agent ended without saying that it was done."}
	}
	return nil
}

// unheard is an answer that was only in done, so that a run which ends otherwise does not lose it.
func (d *dialogue) unheard() []run.AgentEvent {
	if d.done == nil || d.spoken || d.done.Answer == "" {
		return nil
	}
	return []run.AgentEvent{run.Delta{Text: d.done.Answer}}
}
