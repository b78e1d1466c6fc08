// Package bridge is the adapter for agents that speak the S4 bridge protocol 0.4. The rules are those of shared/bridge; this package says what
// each of their effects means in a run's log.
package bridge

import (
	"errors"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// Adapter is a runtime.Adapter. The zero value is ready.
type Adapter struct{}

// Open begins a turn; one without message and attachments is refused (S4 "empty turn").
func (Adapter) Open(turn runtime.Turn) (runtime.Dialogue, error) {
	if turn.Compact {
		return nil, fault.New(fault.UnsupportedByRuntime, "The agent speaks the bridge protocol, which has no word for making a context shorter.")
	}
	line, err := bridge.Turn{
		Message: turn.Message, SessionID: turn.SessionID, SessionName: turn.SessionName, Attachments: turn.Attachments,
		Permission: turn.Permission,
	}.Encode()
	if errors.Is(err, bridge.ErrEmptyTurn) {
		return nil, fault.Wrap(err, fault.EmptyPrompt, "There is nothing to say to the agent: the message is empty.")
	}
	if err != nil {
		return nil, err
	}
	profile := bridge.Profile{Streaming: turn.Streaming, Permission: turn.Permission}
	return &dialogue{turn: line, asks: turn.Permission, state: bridge.NewTurnState(profile)}, nil
}

type dialogue struct {
	turn  []byte
	asks  bool // stdin stays open after the turn line
	state *bridge.TurnState
}

func (d *dialogue) Begin() runtime.Reaction {
	return runtime.Reaction{Reply: d.turn, CloseInput: !d.asks}
}

func (d *dialogue) Line(data []byte) runtime.Reaction {
	line, err := bridge.ParseLine(data)
	var ignored *bridge.IgnoredError
	if errors.As(err, &ignored) {
		return runtime.Reaction{Ignored: string(ignored.Reason)}
	}
	var r runtime.Reaction
	for _, effect := range d.state.Step(line) {
		d.apply(effect, &r)
	}
	// The turn is over for stdin once the agent has given its reply: nothing will be asked any more, and what it still asks is moot.
	r.CloseInput = d.asks && (line.Type == bridge.TypeResult || line.Type == bridge.TypeError)
	return r
}

func (d *dialogue) apply(effect bridge.Effect, r *runtime.Reaction) {
	switch e := effect.(type) {
	case bridge.EmitPartial:
		channel := run.Output
		if e.Role == bridge.Thinking {
			channel = run.Thought
		}
		r.Events = append(r.Events, run.Delta{Channel: channel, Text: e.Text})
	case bridge.KeepSession:
		r.Events = append(r.Events, run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{AgentSessionID: e.SessionID}})
	case bridge.AskPerson:
		r.Asks = append(r.Asks, runtime.AskOf(e.Request))
	case bridge.Respond:
		respond(e.Response, r)
	case bridge.ReportError:
		// The run fails when the process has ended: until then a timeout would count before it (R14).
	case bridge.Warn:
		r.Warnings = append(r.Warnings, string(e.Reason))
	}
}

// End says what the turn came to. Usage is kept whatever that is.
func (d *dialogue) End(end runtime.End) ([]run.AgentEvent, run.Outcome) {
	o := d.state.Finish(bridge.Exit{Code: end.Code, TimedOut: end.TimedOut, Stderr: end.Stderr})
	var events []run.AgentEvent
	if o.Usage != nil {
		events = append(events, run.Fact{Type: event.AgentResult, Payload: event.AgentResultPayload{Usage: o.Usage, ExitCode: &end.Code}})
	}
	switch {
	case len(end.Pending) > 0:
		return events, run.ProcessEnded(end.Why, end.Pending)
	case end.Cancelled:
		return events, run.Cancelled(end.Gone)
	case o.OK():
		return append(events, run.Done{Answer: o.Text}), run.Completed()
	}
	failure := event.ErrorObj{Code: o.Code, Message: o.Message}
	return append(events, run.Failure{ErrorObj: failure}), run.Failed(failure)
}
