// Package runlog holds the rules of the record: runs, the committed log of each, the lanes that carry an edge's journal into it, and
// the commands that go the other way (architecture 5 to 7 and 10). It decides and prepares; a store applies, in one transaction.
package runlog

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// EventSeq is the place of an event in its run's log: from 1 without holes, in commit order. It is what every `after_seq` means.
type EventSeq uint64

// Run is one execution of one agent for one trigger. Its id is the task id of S3's frames.
type Run struct {
	ID     id.Run
	Parent id.Run // "" for a run that a person started
	Root   id.Run // ID itself when there is no parent
	// Continues is the run whose answered questions this one takes back to the agent, ContinuedBy the one that does so for this run.
	Continues, ContinuedBy id.Run
	Regenerates            id.Run // the earlier run for the same message in whose stead a person asked for this one
	Session                id.Session

	Agent         id.Agent
	AgentName     string
	AgentChecksum string // hex SHA-256 of the agent's configuration as it was dispatched
	Edge          id.Edge
	Lease         wire.Lease

	Trigger     id.Message // "" when the API started it without a message
	RequestedBy id.User
	TraceID     string // 32 hex

	State        run.State
	WaitsFor     string          // why no edge takes it, or its edge has not started it yet, for people; "" if it only has to become its turn
	LastEventSeq EventSeq        // 0 for an empty log
	Floor        EventSeq        // the events up to it are in an archive and cannot be read here; 0 for none
	Error        *event.ErrorObj // of a failed run
	FinalMessage id.Message      // the message that holds the final text

	CreatedAt time.Time
	StartedAt time.Time // zero until the agent process ran
	EndedAt   time.Time // zero until the outcome

	// ProcessEnded says that the agent's process has ended while people were asked, and the edge has no more to tell: the run waits for
	// them, and what becomes of it is the hub's to decide (R21).
	ProcessEnded bool

	// Unknown says that the run may have moved on without us: its edge is absent. It is a view, never stored.
	Unknown bool
}

// NewRun is a run that is ready to be stored: everything that has to be encoded or signed is. Make one with Dispatcher.Prepare.
type NewRun struct {
	Run
	Placement Placement
	Dispatch  json.RawMessage // body of the start command, the same for whichever edge gets it
	Command   *wire.Command   // signed for Run.Edge; nil while the run waits for one
	Alone     bool            // it is stored only if no other run of the conversation is at work; fault.TaskInProgress otherwise
	Frame     []byte          // payload of agent.dispatch
}

// Placement is what decides which edges may execute a run.
type Placement struct {
	By      id.User // who asked: the edge must be one that they may operate when the run is handed to it
	Owner   id.User // whose edges
	Edge    id.Edge // the only one, "" for any of the owner's with the profile
	Profile string
	Runtime string
	Mode    wire.ApprovalMode // of the person, when the run is handed over: the edge must keep to it
	Needs   string            // what runs of the profile must be able to do, a word of wire.Controls; "" for nothing
}

// StoredEvent is a committed event. Payload is exactly what the producer encoded.
type StoredEvent struct {
	ID         id.Event
	Run        id.Run
	Seq        EventSeq
	Type       event.Type
	WireType   event.WireType
	OccurredAt time.Time // by the producer's clock
	RecordedAt time.Time // by the hub's clock
	Payload    json.RawMessage
	Checksum   string // hex SHA-256 of the canonical payload
	Schema     int
	TraceID    string // 32 hex
	SpanID     string // 16 hex or ""
	Late       bool   // it came after the run had ended

	// Where it came from; zero for an event of the hub's own.
	Edge        id.Edge
	ProducerSeq wire.ProducerSeq
}

// SchemaVersion is the format of the events that this code writes.
const SchemaVersion = 1
