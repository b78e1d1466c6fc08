// Package uplink is the hub's end of the wire to its edges (architecture 6.5). An edge opens one authenticated WebSocket; inside it
// runs a NATS connection to this process's embedded server. Each connection is a lane: hello, welcome, frames of journal rows that
// are committed in order, and commands in the other direction.
package uplink

import (
	"context"
	"net"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Bus carries the bytes: the embedded server's tunnels and the hub's own connection to it.
type Bus interface {
	// Ticket makes a one-time bus credential for one tunnel; Forget voids it.
	Ticket(e id.Edge, c id.Connection) string
	Forget(ticket string)
	// Tunnel copies bytes between the edge and the server until either or ctx ends, and closes both.
	Tunnel(ctx context.Context, edge net.Conn) error
	// Publish sends to whoever listens; Listen calls h in publication order and is in force when it returns.
	Publish(s subject.Subject, data []byte) error
	Listen(ctx context.Context, p subject.Pattern, h func(subject.Subject, []byte)) (stop func(), err error)
}

// Edges knows who may connect.
type Edges interface {
	// Authenticate returns the edge that a credential belongs to: fault.Unauthenticated, or fault.EdgeRevoked.
	Authenticate(ctx context.Context, credential string) (fleet.Edge, error)
	// Announce records what a greeting edge can run.
	Announce(ctx context.Context, edge id.Edge, hello wire.Hello) error
	// AnnounceAgain records what it can run from now on; fleet.ErrFenced when another connection has taken the lane of that fence.
	AnnounceAgain(ctx context.Context, edge id.Edge, hello wire.Hello, fence uint64) error
	// Standing returns the edge as the store has it.
	Standing(ctx context.Context, edge id.Edge) (fleet.Edge, error)
	// Seen records that the edge was here until now, Refuse why the hub takes nothing more from it.
	Seen(ctx context.Context, edge id.Edge) error
	Refuse(ctx context.Context, edge id.Edge, why fault.Code) error
}

// Lanes commits what edges report. Every error that is not a fault is the hub's own trouble: the edge keeps its rows and comes back.
type Lanes interface {
	// Open takes the lane's fence for this connection: an older one can commit no more.
	Open(ctx context.Context, edge id.Edge, hello wire.Hello) (runlog.LaneState, error)
	// Holder says who has the lane, as the store has it.
	Holder(ctx context.Context, edge id.Edge) (runlog.Holder, error)
	// Commit puts a frame's rows on disk, once each.
	Commit(ctx context.Context, frame runlog.LaneFrame) (runlog.LaneResult, error)
	// Recreate takes a run back that the store has lost, if what the edge shows proves how it began.
	Recreate(ctx context.Context, edge id.Edge, shown wire.Shown) error
	// Receipt records how an edge received a command.
	Receipt(ctx context.Context, edge id.Edge, receipt wire.CommandReceipt) error
	// PendingCommands lists what the edge has not answered, oldest first.
	PendingCommands(ctx context.Context, edge id.Edge) ([]wire.Command, error)
}

// Runs hands waiting work to an edge that has come.
type Runs interface {
	DispatchWaiting(ctx context.Context, edge id.Edge) error
}

// Others are the other hub processes. No method blocks, and what is said may get lost.
type Others interface {
	// EdgeArrived tells them which connection has taken an edge's lane; EdgeDoubted asks the one that holds a connection for a proof of life.
	EdgeArrived(a fleet.Arrival)
	EdgeDoubted(d fleet.Doubt)
}

// Presence is told who is here.
type Presence interface {
	Arrived(e id.Edge)
	Departed(e id.Edge)
}
