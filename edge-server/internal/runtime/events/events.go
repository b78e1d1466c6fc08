// Package events is the adapter for agents of the `events` runtime (R17): S4's turn line in, the lines of shared/agentline out.
package events

import (
	"encoding/json"
	"errors"

	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Adapter is a runtime.Adapter. The zero value is ready.
type Adapter struct{}

// Open begins a turn; one without message and attachments is refused.
func (Adapter) Open(turn runtime.Turn) (runtime.Dialogue, error) {
	if turn.Compact && !turn.Takes(wire.ControlCompact) {
		return nil, fault.New(fault.UnsupportedByRuntime, "The agent cannot make its context shorter: the controls of its profile do not name compact.")
	}
	if !turn.Takes(wire.ThinkingLevels) {
		turn.Thinking = ""
	}
	line, err := bridge.Turn{
		Message: turn.Message, SessionID: turn.SessionID, SessionName: turn.SessionName, Attachments: turn.Attachments,
		Permission: turn.Permission, CoordinatorMode: turn.Manner.CoordinatorMode, PlanConfirmation: turn.Manner.PlanConfirmation,
		ClientTools: turn.ClientTools, MCP: turn.MCP, Compact: turn.Compact, ThinkingLevel: turn.Thinking,
	}.Encode()
	if errors.Is(err, bridge.ErrEmptyTurn) {
		return nil, fault.Wrap(err, fault.EmptyPrompt, "There is nothing to say to the agent: the message is empty.")
	}
	if err != nil {
		return nil, err
	}
	state := bridge.NewTurnState(bridge.Profile{Streaming: turn.Streaming, Permission: turn.Permission})
	return &dialogue{
		turn: line, asks: turn.Permission, stays: turn.Permission || turn.Listens(), asked: map[string]bool{}, artifacts: turn.Artifacts, bridge: state,
	}, nil
}

type dialogue struct {
	turn      []byte
	asks      bool            // the agent may ask
	stays     bool            // stdin stays open after the turn line: the agent may ask, or listens while it works
	asked     map[string]bool // prompts of this turn, by the agent's own ids; permissions are the bridge protocol's
	artifacts runtime.Artifacts
	bridge    *bridge.TurnState // of the lines of the bridge protocol among the agent's

	session string          // as the agent named it first
	spoken  bool            // some of the answer was a delta
	bridged bool            // a line was one of the bridge protocol
	result  *run.Done       // the bridge protocol's: other lines may follow it
	done    *run.Done       // held back until the process has ended
	failure *event.ErrorObj // as the agent reported it
}

func (d *dialogue) Begin() runtime.Reaction {
	return runtime.Reaction{Reply: d.turn, CloseInput: !d.stays}
}

func (d *dialogue) Line(data []byte) runtime.Reaction {
	line, err := agentline.Parse(data)
	var ignored *agentline.IgnoredError
	switch {
	case errors.As(err, &ignored):
		return runtime.Reaction{Ignored: string(ignored.Reason)}
	case line.Bridge != nil:
		r := d.bridgeLine(line)
		r.CloseInput = d.stays && (line.Type == agentline.Result || line.Type == agentline.Error)
		return r
	case d.over():
		return runtime.Reaction{Ignored: string(agentline.AfterEnd)}
	}
	r := d.event(line)
	r.CloseInput = d.stays && d.over() // nothing will be asked or heard any more, and what is still open is moot
	return r
}

// over says whether the agent has ended its turn in words of this runtime.
func (d *dialogue) over() bool { return d.done != nil || d.failure != nil }

func (d *dialogue) event(l agentline.Line) runtime.Reaction {
	switch l.Type {
	case agentline.Delta:
		d.spoken = d.spoken || l.Content != "" && run.ScopeID(l.AgentID) == ""
		return say(run.Delta{Block: max(0, l.ContentIndex), Text: l.Content, Agent: l.AgentID, Last: l.Last, Fidelity: ending(l)})
	case agentline.ToolCall:
		return d.toolCall(l)
	case agentline.ToolResult:
		return say(run.ToolResult{
			ID: l.ToolCallID, Name: l.ToolName, Result: l.ToolResult, Error: l.Error, Metadata: l.Metadata, Images: l.Images,
			Agent: l.AgentID,
		})
	case agentline.StateChange:
		return say(run.StateChange{State: l.State})
	case agentline.SessionInit:
		switch d.session {
		case "":
		case l.SessionID:
			return runtime.Reaction{} // known from a line of the bridge protocol
		default:
			return runtime.Reaction{Warnings: []string{string(bridge.ReasonOtherSession)}} // the first one counts, as there
		}
		d.session = l.SessionID
		return say(run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{
			AgentSessionID: l.SessionID, Model: l.Model, Provider: l.Provider, ModelContextWindow: l.ModelContextWindow, SystemPrompt: l.SystemPrompt,
			Tools: l.Tools, AgentState: l.AgentState,
		}})
	case agentline.Artifact:
		return d.artifact(l)
	case agentline.Prompt:
		return d.prompt(l)
	case agentline.Done:
		d.done = &run.Done{Answer: l.Answer}
		return runtime.Reaction{}
	case agentline.Error:
		d.failure = failureOf(l)
		return runtime.Reaction{}
	}
	return fact(l)
}

// toolCall is a call of the agent's own, or of a tool that a client carries out. The latter needs an open stdin, as a prompt does.
func (d *dialogue) toolCall(l agentline.Line) runtime.Reaction {
	switch {
	case l.Target == event.TargetClient && !d.asks:
		return warn(bridge.ReasonPermissionOff)
	case l.Target == event.TargetClient:
		return runtime.Reaction{Asks: []runtime.Ask{{
			ID: l.ToolCallID, Kind: event.PromptClientTool, Tool: l.ToolName, Input: l.ToolArgs, Description: l.Intent, Agent: l.AgentID,
		}}}
	}
	return say(run.ToolCall{ID: l.ToolCallID, Name: l.ToolName, Args: l.ToolArgs, Intent: l.Intent, Agent: l.AgentID, Fidelity: fidelity(l)})
}

// fidelity is what the line has of its provider's own, byte for byte.
func fidelity(l agentline.Line) event.Fidelity { return event.NewFidelity(json.RawMessage(l.Fidelity)) }

// ending is fidelity of a piece of text or reasoning: it belongs to the whole, and so to the last piece.
func ending(l agentline.Line) event.Fidelity {
	if !l.Last {
		return event.Fidelity{}
	}
	return fidelity(l)
}

func say(e run.AgentEvent) runtime.Reaction { return runtime.Reaction{Events: []run.AgentEvent{e}} }

// fact: reasoning, and the arguments and the output of a call, are text, everything else is carried as it is.
func fact(l agentline.Line) runtime.Reaction {
	if !l.Streamed() {
		f := run.Fact{Type: event.Type(l.Type)}
		if len(l.Payload) > 0 {
			f.Payload = l.Payload
		}
		return say(f)
	}
	piece, ok := l.Piece()
	if !ok {
		return runtime.Reaction{Ignored: string(agentline.BadField)}
	}
	d := run.Delta{Channel: run.Thought, Block: max(0, l.ContentIndex), Text: piece.Text, Agent: piece.AgentID}
	switch event.Type(l.Type) {
	case event.ToolInput:
		d.Channel, d.Call, d.Tool = run.ToolInput, piece.Call, piece.Tool
	case event.ToolOutput:
		d.Channel, d.Call = run.ToolOutput, piece.Call
	default:
		d.Apart, d.Last, d.Fidelity = l.Apart, l.Last, ending(l)
	}
	return say(d)
}

func failureOf(l agentline.Line) *event.ErrorObj {
	failure := event.ErrorObj{Code: fault.Code(l.ErrorCode), Message: l.ErrorMessage, Retryable: l.Retryable}
	if failure.Code == "" {
		failure.Code = fault.AgentError
	}
	if failure.Message == "" {
		failure.Message = "The agent reported an error without saying which."
	}
	return &failure
}
