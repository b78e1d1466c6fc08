package run

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// AgentEvent is what a runtime adapter says about its agent: one of the seven kinds of S2 (StateChange, Delta, ToolCall, ToolResult,
// Artifact, Done, Failure), a step of a prompt (Asked, Decided, Delivered) or a Fact. It carries no number and no id of ours: the Normaliser gives those.
type AgentEvent interface{ agentEvent() }

// Channel says which stream of text a Delta continues.
type Channel uint8

// Channels of text. Output is what the person reads as the answer; Thought is reasoning beside it.
const (
	Output Channel = iota
	Thought
	ToolInput  // the arguments of a tool call while the model writes them
	ToolOutput // what an open call puts out
)

// The kinds of AgentEvent.
type (
	// StateChange is a move of the agent's own state machine, in its own words.
	StateChange struct{ State string }

	// Delta is the next piece of text of a channel. Block numbers the content block it belongs to, from 0. Agent is the sub-agent that says it.
	Delta struct {
		Channel        Channel
		Apart          bool // of a Thought: it stands by itself, outside of any message
		Block          int
		Text           string
		Agent          event.SubAgent
		Call           string // of a ToolInput or ToolOutput: the model's own id of the call; empty if it gave none
		Tool           string // of a ToolInput: the tool's name; empty if it is not known yet
		Last           bool   // the message, or of a Thought the block of reasoning, ends with it; Text may be empty then
		event.Fidelity        // of what ends
	}

	// ToolCall is the start of a tool. ID is the model's own id; empty if it gave none. Args is any JSON value, nil if unknown.
	ToolCall struct {
		ID     string
		Name   string
		Args   json.RawMessage
		Intent string // what it is for, in a person's words
		Agent  event.SubAgent
		Target event.ToolTarget // who carries it out; "" for the agent's side
		event.Fidelity
	}

	// ToolResult is the end of a tool. ID may be empty; Name then helps to find the call. Result is any JSON value, nil if there is none.
	// A non-nil Error says that the tool failed. Metadata is an object that says how to show the result, nil if there is none.
	ToolResult struct {
		ID       string
		Name     string
		Result   json.RawMessage
		Error    *event.ErrorObj
		Metadata json.RawMessage
		Images   []string // data:MIME;base64,… URLs
		Agent    event.SubAgent
		Target   event.ToolTarget // of the call: a result without an id never ends the call of another target
	}

	// Artifact is a file whose bytes are already stored as a blob.
	Artifact struct{ event.ArtifactCreatedPayload }

	// Done is success. Answer is the whole final text; it is used only if nothing of it was streamed.
	Done struct{ Answer string }

	// Failure ends the run with an error.
	Failure struct{ event.ErrorObj }

	// Asked is a request for permission, now a prompt.
	Asked struct{ event.PromptRequestedPayload }

	// Decided is an answer to a prompt that the edge gave by itself.
	Decided struct{ event.PromptAnsweredPayload }

	// Delivered is a person's answer that has reached the agent.
	Delivered struct{ event.PromptDeliveredPayload }

	// Fact is anything else worth keeping: a `run.agent.*` event, run.output.batch or run.checkpoint. Payload is a payload struct of
	// package event or a json.RawMessage that holds an object. A fact with another type, or one that the Normaliser issues itself, is
	// dropped.
	Fact struct {
		Type    event.Type
		Payload any
	}
)

func (StateChange) agentEvent() {}
func (Delta) agentEvent()       {}
func (ToolCall) agentEvent()    {}
func (ToolResult) agentEvent()  {}
func (Artifact) agentEvent()    {}
func (Done) agentEvent()        {}
func (Failure) agentEvent()     {}
func (Asked) agentEvent()       {}
func (Decided) agentEvent()     {}
func (Delivered) agentEvent()   {}
func (Fact) agentEvent()        {}
