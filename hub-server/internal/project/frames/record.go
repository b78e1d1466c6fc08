package frames

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Record is what rows of the outbox refer to, read for many of them at once: what is asked for and not there is left out, and the answer has no
// order. Safe for concurrent use.
type Record interface {
	// MessagesByID returns messages.
	MessagesByID(ctx context.Context, messages []id.Message) ([]chat.Message, error)
	// Headers returns what never changes of runs.
	Headers(ctx context.Context, runs []id.Run) ([]Header, error)
	// Stretches returns the events of parts of logs that do not overlap; those that have left for an archive are not there.
	Stretches(ctx context.Context, stretches []Stretch) ([]runlog.StoredEvent, error)
	// PromptsByID returns questions.
	PromptsByID(ctx context.Context, requests []id.Request) ([]prompt.Prompt, error)

	// CancelledBy returns who asked for a run to stop, "" if nobody did.
	CancelledBy(ctx context.Context, run id.Run) (id.User, error)
	// Edge returns an edge; fault.NotFound.
	Edge(ctx context.Context, edge id.Edge) (fleet.Edge, error)
}

// Stretch is a part of a run's log, from one event to another one, both included.
type Stretch struct {
	Run      id.Run
	From, To runlog.EventSeq
}
