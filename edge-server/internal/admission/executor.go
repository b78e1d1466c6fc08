package admission

import (
	"context"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Nonce marks every process of one start: 32 hex digits, in the environment of the agent and in the journal, so that a later
// edge process can find what an earlier one left behind.
type Nonce string

// Job is one turn of one agent, admitted and free to start.
type Job struct {
	Run          id.Run
	Session      id.Session
	SessionName  string // for people; may be empty
	Agent        id.Agent
	AgentName    string
	Profile      string
	Prompt       string // may be empty
	Attachments  []wire.Attachment
	Manner       wire.Manner
	ClientTools  []wire.ClientTool // that clients of the person carry out
	Grants       []wire.Grant      // requests that a person allowed when an earlier run asked
	Approval     wire.ApprovalMode // of the person whose run it is; "" leaves permissions to the profile
	Compact      bool              // to make the model's context shorter, and nothing else
	Thinking     wire.ThinkingLevel
	AgentSession AgentSession
	Nonce        Nonce
	TraceID      string // 32 hex
}

// Profiles says what this edge can run at the moment. Safe for concurrent use; never blocks.
type Profiles interface {
	// Limit is how many turns of the profile may run at once, 0 for no limit but the edge's own, and whether the edge has it at all.
	Limit(profile string) (most int, offered bool)

	// Takes says whether agents of the profile can be told this while they work. Approval modes are no matter of theirs: always.
	Takes(profile string, what wire.ControlKind) bool

	// Changed returns a channel that is closed when an answer of Limit may have become another.
	Changed() <-chan struct{}
}

// Executor starts agents. Safe for concurrent use.
type Executor interface {
	// Start spawns the agent of job and returns once its process exists, or an error if none does: a *fault.Fault becomes the error of the
	// run, any other error is shown as start_failed. It is called at most once for a run. The end of ctx gives up the spawn. Nothing of what
	// the agent says may be lost between Start and Process.Follow: it waits in the pipe.
	Start(ctx context.Context, job Job) (Process, error)
}

// Process is a started agent. Whoever called Start calls Follow exactly once.
type Process interface {
	// PID is the process id of the leader.
	PID() int

	// WorkDir is the directory that the agent really works in; empty if the executor resolved none (R25).
	WorkDir() string

	// Follow feeds what the agent says to emit, one event at a time and in order, and returns when the output has ended and the process
	// tree is gone. The end of ctx asks for a stop: TERM to the whole tree, the grace period, KILL; what the agent still says meanwhile
	// is emitted too.
	//
	// emit blocks while the journal has no room, so the agent blocks on its full pipe. An error of emit is final: the rest of the output is
	// read and thrown away.
	Follow(ctx context.Context, emit func(run.AgentEvent) error) Exit

	// Answer takes a person's answer to a prompt that Follow has emitted. The error is a fault: not_found, too_late or digest_mismatch.
	// Otherwise that prompt takes no other answer, and deliver, called once, writes this one to the agent if it is still there. Neither
	// blocks; both may be called at any time, also while Follow runs.
	Answer(a wire.Answer) (deliver func(), err error)

	// Control takes something that the agent is told while it works. The error is a fault: unsupported_by_runtime, or too_late for an agent that
	// listens no longer. Otherwise deliver, called once, tells it, behind what was delivered before, if the agent is still there. Neither blocks;
	// both may be called at any time, also before and while Follow runs.
	Control(o wire.ControlOrder) (deliver func(), err error)
}

// Exit is how a process ended.
type Exit struct {
	// Outcome ends the run, or its process (run.ProcessEnded), if the agent has emitted neither Done nor Failure and nobody stopped it. The
	// adapter applies the precedence of its protocol (S4: timeout, then error event, then exit code) by holding back Done and Failure until it knows.
	Outcome run.Outcome

	// Gone says that the whole process tree is known to be gone.
	Gone bool
}

// Sweeper ends every process that carries a nonce of an earlier start. nil means that none is left.
type Sweeper interface {
	Sweep(ctx context.Context, nonce Nonce) error
}
