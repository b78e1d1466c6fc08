package trial

import (
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// dialogue is one turn in one protocol. Its methods are called one after the other: workIn, begin, line for each line, end.
type dialogue interface {
	workIn(dir string)
	begin() reaction
	line(text []byte) reaction
	end(exit process.Exit, timedOut bool) ([]run.AgentEvent, Result)
}

// reaction is what a dialogue wants done, in the order of the fields.
type reaction struct {
	said       []run.AgentEvent
	ignored    string // why the line was no event
	warnings   []string
	ask        []bridge.PermissionRequest
	prompts    []runtime.Ask // of other kinds
	calls      []runtime.Ask // of tools of clients
	respond    []bridge.PermissionResponse
	reply      []byte
	closeInput bool
}

// ErrEmptyTurn says that there is nothing to say to the agent.
var ErrEmptyTurn = errors.New("the message is empty and nothing is attached: there is nothing to say to the agent")

func (a Agent) dialogue(turn bridge.Turn) (dialogue, error) {
	turn.Permission, turn.ClientTools = a.Profile.Permission, declared(a.Tools)
	line, err := turn.Encode()
	switch {
	case errors.Is(err, bridge.ErrEmptyTurn):
		return nil, ErrEmptyTurn
	case err != nil:
		return nil, err
	case a.Profile.Runtime == profile.Bridge:
		state := bridge.NewTurnState(bridge.Profile{Streaming: a.Profile.Streaming, Permission: a.Profile.Permission})
		return &bridgeDialogue{turn: line, asks: a.Profile.Permission, state: state}, nil
	case a.Profile.Runtime == profile.Events:
		return newEventsDialogue(turn, a.Profile)
	}
	return nil, fmt.Errorf("runtime %q is not known here", a.Profile.Runtime)
}

// bridgeDialogue applies the rules of shared/bridge.
type bridgeDialogue struct {
	turn  []byte
	asks  bool
	state *bridge.TurnState
}

func (d *bridgeDialogue) workIn(string) {}

func (d *bridgeDialogue) begin() reaction { return reaction{reply: d.turn, closeInput: !d.asks} }

func (d *bridgeDialogue) line(text []byte) reaction {
	line, err := bridge.ParseLine(text)
	var ignored *bridge.IgnoredError
	if errors.As(err, &ignored) {
		return reaction{ignored: string(ignored.Reason)}
	}
	var r reaction
	for _, effect := range d.state.Step(line) {
		switch e := effect.(type) {
		case bridge.EmitPartial:
			r.said = append(r.said, delta(e.Role, e.Text))
		case bridge.KeepSession:
			r.said = append(r.said, run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{AgentSessionID: e.SessionID}})
		case bridge.AskPerson:
			r.ask = append(r.ask, e.Request)
		case bridge.Respond:
			r.respond = append(r.respond, e.Response)
		case bridge.Warn:
			r.warnings = append(r.warnings, string(e.Reason))
		case bridge.ReportError:
			// The result tells it, once it is certain that the turn did not run into its limit (R14).
		}
	}
	r.closeInput = d.asks && (line.Type == bridge.TypeResult || line.Type == bridge.TypeError)
	return r
}

func delta(role bridge.Role, text string) run.AgentEvent {
	if role == bridge.Thinking {
		return run.Delta{Channel: run.Thought, Text: text}
	}
	return run.Delta{Text: text}
}

func (d *bridgeDialogue) end(exit process.Exit, timedOut bool) ([]run.AgentEvent, Result) {
	o := d.state.Finish(bridge.Exit{Code: exit.Code, TimedOut: timedOut, Stderr: exit.Stderr})
	result := Result{ExitCode: o.ExitCode, Code: o.Code, Message: o.Message, SessionID: o.SessionID, Usage: o.Usage}
	if o.Text == "" {
		return nil, result
	}
	return []run.AgentEvent{run.Done{Answer: o.Text}}, result
}
