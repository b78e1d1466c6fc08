// Package runtime runs agents: it starts the process that a profile describes, lets an adapter translate between the agent's protocol and S2's
// AgentEvents, redacts known secrets, and reports how it ended. One adapter per protocol, in packages of their own; all are held to one
// contract suite.
package runtime

import (
	"io"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Turn is what an agent is asked, once.
type Turn struct {
	Message     string // may be empty when there are attachments
	Attachments []bridge.Attachment
	SessionID   string // the agent's own, from its last turn; "" begins a new session
	SessionName string
	Manner      wire.Manner
	Streaming   bool // pieces of the answer are passed on at once
	Permission  bool // the agent may ask people
	Artifacts   Artifacts
	ClientTools []wire.ClientTool // that clients carry out, and the agent may call in lines: only with Permission
	MCP         *bridge.MCP       // where they can be had as well; nil for nowhere
	Controls    []string          // what the agent can be told while it works, and whether it takes thinking levels: see wire.Controls
	Compact     bool              // make the model's context shorter, and nothing else
	Thinking    wire.ThinkingLevel
}

// Takes says whether the agent can be told this while it works.
func (t Turn) Takes(what wire.ControlKind) bool { return slices.Contains(t.Controls, string(what)) }

// Listens says whether the agent can be told anything: its stdin stays open then.
func (t Turn) Listens() bool {
	return t.Takes(wire.ControlSteer) || t.Takes(wire.ControlRetryNow) || t.Takes(wire.ControlCompact)
}

// Artifacts takes the files that an agent hands out. An error is a fault whose sentence may be shown.
type Artifacts interface {
	// KeepFile stores a file of the workspace; name and contentType may be empty.
	KeepFile(path, name, contentType string) (run.Artifact, error)
	// KeepContent stores bytes that the agent sent itself.
	KeepContent(content []byte, name, contentType string) (run.Artifact, error)
}

// Blobs stores bytes beside the log. They are on disk when PutBlob returns.
type Blobs interface {
	PutBlob(r io.Reader) (event.BlobRef, error)
}

// Adapter speaks one protocol. Safe for concurrent use.
type Adapter interface {
	// Open begins a turn. The error is a fault: the agent must not be started.
	Open(turn Turn) (Dialogue, error)
}

// Dialogue is one turn with one process: a state machine without clock, process or goroutine, but for the Artifacts of its Turn. Its methods are
// called one after the other: Begin, then Line for each line of stdout and Answer for what it asked, then End.
type Dialogue interface {
	// Begin returns what to write to stdin first.
	Begin() Reaction
	// Line takes one whole line, without its line end. line is valid during the call.
	Line(line []byte) Reaction
	// Answer takes the answer to an Ask of an earlier Reaction, at most one for each.
	Answer(Answer) Reaction
	// Control says what to write to an agent that hears what it is told while it works; nothing if it hears nothing.
	Control(wire.ControlOrder) Reaction
	// End takes the end of the process. It returns what was held back until now and how the turn ended; the outcome counts only if no
	// event was a Done or Failure.
	End(End) ([]run.AgentEvent, run.Outcome)
}

// Reaction is what a dialogue wants done, in the order of the fields.
type Reaction struct {
	Events []run.AgentEvent
	Asks   []Ask
	// Ignored says why the line was no event of the protocol; it is kept as raw output.
	Ignored string
	// Warnings name parts of a good line that were not used. They are counted.
	Warnings []string
	Reply    []byte // for stdin
	// CloseInput ends stdin after Reply. What was asked and not answered needs no answer any more.
	CloseInput bool
}

// End is how a process ended.
type End struct {
	Code      int    // 128 + signal number when a signal ended it
	TimedOut  bool   // it was stopped at the limit of its turn
	Cancelled bool   // it was stopped because somebody asked
	Gone      bool   // its whole tree is known to be gone
	Stderr    string // the end of it
	// Pending are prompts to people of which the agent has not got the answer though it was not done: its run goes on waiting (R21), and Why
	// says what ended the process.
	Pending []id.Request
	Why     event.EndReason
}
