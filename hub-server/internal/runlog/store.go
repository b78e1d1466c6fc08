package runlog

import (
	"context"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// The stores below are one record. All are safe for concurrent use; a write returns after it is on disk, and when its ctx ends first
// the outcome is unknown to the caller.

// LaneStore applies what edges report.
type LaneStore interface {
	// OpenLane takes the edge's fence for the lane of the greeting edge, which is made if need be. fresh says that the edge has had
	// another lane and this one is new.
	OpenLane(ctx context.Context, edge id.Edge, hello wire.Hello) (lane LaneState, fresh bool, err error)
	// Holder says who has the edge's lane; the zero Holder if nobody has ever taken it.
	Holder(ctx context.Context, edge id.Edge) (Holder, error)
	// RecordGap moves an open lane's watermark to gap.To, and appends run.log_gap to each of the edge's runs that has no outcome.
	RecordGap(ctx context.Context, lane LaneState, gap Gap) error
	// CommitFrame commits a frame that is Next, all of it or nothing.
	CommitFrame(ctx context.Context, frame LaneFrame) (LaneResult, error)
	// KnownEvents says which of the events are in the run's log from another lane of the same edge.
	KnownEvents(ctx context.Context, lane LaneState, runID id.Run, events []id.Event) (map[id.Event]bool, error)
	// RecreateRun stores a run that the store has lost, with its agent.dispatch frame and without a command: the edge has it. It says whether
	// the run is there now and the edge's: not if its conversation is not.
	RecreateRun(ctx context.Context, run NewRun) (bool, error)
	// RemakeEpoch voids all cursors, because the store lost rows that it had promised to keep.
	RemakeEpoch(ctx context.Context) (wire.Epoch, error)
}

// RunStore reads runs and applies what the hub itself decides about them.
type RunStore interface {
	// Run returns one run; fault.NotFound.
	Run(ctx context.Context, runID id.Run) (Run, error)
	// Runs returns a page of runs, newest first.
	Runs(ctx context.Context, q Query) ([]Run, error)
	// ActiveRuns returns the runs of a conversation that have no outcome, the oldest first.
	ActiveRuns(ctx context.Context, s id.Session) ([]Run, error)
	// OpenRuns returns the runs that an edge was asked to execute and that have no outcome; "" means every edge. Those whose process the
	// edge has ended are not among them: see AbandonedRuns.
	OpenRuns(ctx context.Context, edge id.Edge) ([]Run, error)
	// AppendOwn appends events of the hub's own if the log still ends at last, and says whether it did.
	AppendOwn(ctx context.Context, runID id.Run, last EventSeq, entries []Entry) (bool, error)
}

// SuccessionStore reads what it takes to let a run go on without its process.
type SuccessionStore interface {
	// AbandonedRuns returns the runs that have no outcome and of which no edge will tell one (Run.ProcessEnded).
	AbandonedRuns(ctx context.Context) ([]Run, error)
	// Dispatched returns a run with its placement and the body of its start; fault.NotFound.
	Dispatched(ctx context.Context, runID id.Run) (NewRun, error)
}

// EventStore reads logs.
type EventStore interface {
	// Events returns up to limit events after a number, and the number of the newest one; fault.NotFound, and *Expired for a number below
	// the floor of what is kept.
	Events(ctx context.Context, runID id.Run, after EventSeq, limit int) ([]StoredEvent, EventSeq, error)
	// EventsUpTo returns the events after a number up to another one, which the caller knows to be committed: the end of the log is not looked
	// up. Errors are those of Events.
	EventsUpTo(ctx context.Context, runID id.Run, after, upTo EventSeq) ([]StoredEvent, error)
	// Artifacts returns what a run made, in the order of its log.
	Artifacts(ctx context.Context, runID id.Run) ([]Artifact, error)
	// Artifact returns one; fault.NotFound.
	Artifact(ctx context.Context, artifact id.Artifact) (Artifact, error)
}

// CommandStore keeps the orders to edges, in order per edge.
type CommandStore interface {
	// TakeCommands returns the commands that the edge has not answered, oldest first, and remembers that each may have been sent.
	TakeCommands(ctx context.Context, edge id.Edge) ([]wire.Command, error)
	// Command returns a command of the edge, false if there is none, or if it was answered or withdrawn.
	Command(ctx context.Context, edge id.Edge, delivery id.Delivery) (wire.Command, bool, error)
	// CloseCommand records the edge's answer and, in the same transaction, appends entries if the run's log still ends at last.
	// It says whether it did both; an answer to a command that is no longer open changes nothing and is done.
	CloseCommand(ctx context.Context, edge id.Edge, receipt wire.CommandReceipt, last EventSeq, entries []Entry) (bool, error)
	// Cancel applies c, and says whether the run was still where c was prepared for.
	Cancel(ctx context.Context, c Cancellation) (bool, error)
	// Order applies o, with its claim if it has one, and says whether the run was still where o was prepared for. The rights of the person are checked
	// once more: NotFound, SessionDissolved, AgentOperateRequired; *account.Repeated when the attempt was answered before; Compacting when the agent is
	// to make its context smaller already.
	Order(ctx context.Context, o Order) (bool, error)
	// Steered returns the run of the conversation that something was said to; NotFound. sent says that the command with it may have left, taken that it
	// was taken back.
	Steered(ctx context.Context, s id.Session, steer id.Steer) (r Run, sent, taken bool, err error)
	// TakeBack takes back a steer whose command has not left, and says whether it had not. The rights are checked as by Order.
	TakeBack(ctx context.Context, by id.User, r Run, steer id.Steer, fact Entry) (bool, error)
	// CloseSteer records that the edge has refused a steer and, if the run is not over, appends the fact to its log.
	CloseSteer(ctx context.Context, edge id.Edge, receipt wire.CommandReceipt, fact Entry) error
	// SetMode applies c, and says whether the person's runs were still as c was prepared for. It is entered in the audit log. NotFound,
	// SessionDissolved; AgentOperateRequired unless the person may operate an agent of the conversation.
	SetMode(ctx context.Context, c ModeChange) (bool, error)
	// Force appends the end of f and enters it in the audit log if the run's log still ends at f.Last, and says whether it did both.
	Force(ctx context.Context, f Forcing) (bool, error)
	// WaitingRuns returns runs that wait for an edge, oldest first, at most limit, only after a run if one is given.
	WaitingRuns(ctx context.Context, after id.Run, limit int) ([]NewRun, error)
	// ClaimWaiting dispatches those of the runs that still wait.
	ClaimWaiting(ctx context.Context, runs []NewRun) error
}

// Query selects runs. Zero fields select nothing away.
type Query struct {
	Member      id.User // runs in conversations that this person is in now
	Session     id.Session
	Agent       id.Agent
	State       run.State
	RequestedBy id.User
	Before      id.Run // of an earlier page: its last run
	Limit       int
}

// Gap is a stretch of rows that are missing for good.
type Gap struct {
	From, To wire.ProducerSeq
	Chain    wire.Chain // after To, as the edge says
	Entry    Entry      // run.log_gap
}

// Cancellation is a prepared stop of a run, for whichever of two ways holds when it is applied.
type Cancellation struct {
	Run       id.Run
	By        id.User
	Edge      id.Edge // "" when the run waits for one
	Lease     wire.Lease
	Last      EventSeq     // where the log ended
	Asked     Entry        // run.cancelling
	Withdrawn []Entry      // closings and run.cancelled, when no edge has anything to do with the run
	Command   wire.Command // otherwise
	IfUnheard bool         // nothing happens to a run that an edge may have heard of
}
