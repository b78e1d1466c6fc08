package events

import (
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// bridgeLine takes a line of the bridge protocol as that protocol's adapter does: an agent moves here by adding lines to the ones it has (R17).
// Its result is an answer and no end, so that lines may be added behind it. After the end only a session id still counts (S4).
func (d *dialogue) bridgeLine(l agentline.Line) runtime.Reaction {
	over := d.over()
	d.bridged = d.bridged || l.Type != agentline.Permission
	var r runtime.Reaction
	for _, effect := range d.bridge.Step(*l.Bridge) {
		switch e := effect.(type) {
		case bridge.KeepSession:
			d.meet(e.SessionID, &r)
		case bridge.AskPerson:
			if !over {
				ask := runtime.AskOf(e.Request)
				ask.Agent = l.AgentID
				r.Asks = append(r.Asks, ask)
			}
		case bridge.Respond:
			refusal := reply(e.Response.Encode())
			r.Reply, r.Warnings = append(r.Reply, refusal.Reply...), append(r.Warnings, refusal.Warnings...)
		case bridge.Warn:
			r.Warnings = append(r.Warnings, string(e.Reason))
		case bridge.EmitPartial:
			if !over {
				r.Events = append(r.Events, d.partial(e))
			}
		case bridge.ReportError:
			if !over {
				d.failure = &event.ErrorObj{Code: fault.AgentError, Message: e.Message, Retryable: l.Retryable}
			}
		}
	}
	switch {
	case over:
		r.Ignored = string(agentline.AfterEnd)
	case l.Type == agentline.Result && d.result == nil:
		d.result = &run.Done{Answer: l.Bridge.Text}
	}
	return r
}

// meet reports the session once, whichever of the two ways of naming it came first.
func (d *dialogue) meet(session string, r *runtime.Reaction) {
	if d.session == "" {
		d.session = session
		r.Events = append(r.Events, run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{AgentSessionID: session}})
	}
}

func (d *dialogue) partial(e bridge.EmitPartial) run.AgentEvent {
	if e.Role == bridge.Thinking {
		return run.Delta{Channel: run.Thought, Text: e.Text}
	}
	d.spoken = true
	return run.Delta{Text: e.Text}
}
