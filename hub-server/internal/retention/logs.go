package retention

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// LateWindow is for how long after its newest event a run stays, whatever the settings: an edge that was away may still send what
// came after the end, and it keeps that for as long (EDGE_RESEND_WINDOW). What comes even later is appended all the same, behind the floor.
const LateWindow = 72 * time.Hour

// Leaving is a stretch of an ended run's log that may go: all of it that is kept.
type Leaving struct {
	archive.Header
	End delivery.Position // of the run, in the outbox: orders those that leave
}

// Mark is a place in the order of runs that may leave.
type Mark struct {
	End delivery.Position
	Run id.Run
}

// Logs is the store as runs leave it. Safe for concurrent use, by several hubs too.
type Logs interface {
	// Begin says whether runs may leave at all: not as long as a hub lives that cannot read a log without its beginning.
	Begin(ctx context.Context) (bool, error)
	// Bytes is how much the payloads of all events come to that are kept.
	Bytes(ctx context.Context) (int64, error)
	// Leaving lists up to limit runs behind after that may leave, in the order in which they ended: their newest event was recorded before
	// quiet, no question of theirs is open, and everybody who keeps a place in the log of events has passed them.
	Leaving(ctx context.Context, after Mark, quiet time.Time, limit int) ([]Leaving, error)
	// Untold lists up to limit conversations with runs that ended before quiet and cannot leave because cards have not told them to the end.
	Untold(ctx context.Context, quiet time.Time, limit int) ([]id.Session, error)
	// Claim makes this hub the one that archives l, if that is still all of the run's log, and says whether it is.
	Claim(ctx context.Context, l Leaving) (bool, error)
	// Kept returns up to limit events of a run after a number, with their places.
	Kept(ctx context.Context, run id.Run, after runlog.EventSeq, limit int) ([]archive.Event, error)
	// Leave records that l is in its file: from now on its events cannot be read here. It says whether this hub's claim still held, and what
	// Messages.Keep has kept at that place was still there; a place of 0 needs nothing.
	Leave(ctx context.Context, l Leaving, s archive.Summary, kept int64) (bool, error)
	// Remove removes events that have left, at most limit. It returns how many, and how long that held up other writers.
	Remove(ctx context.Context, limit int) (removed int, held time.Duration, err error)
}

// Traces are what cards tell of conversations. Safe for concurrent use.
type Traces interface {
	// CatchUp brings the trace of a conversation up to what has been committed.
	CatchUp(ctx context.Context, session id.Session) error
}

// Messages are conversations as they are folded when somebody reads them. Safe for concurrent use.
type Messages interface {
	// Keep makes sure that a conversation can be folded on from a place without anything before it.
	Keep(ctx context.Context, session id.Session, place int64) error
}
