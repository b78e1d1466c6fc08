package cards

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Traces are what cards have told; see cardlog.Logs. Safe for concurrent use.
type Traces interface {
	Open(ctx context.Context, session id.Session) (cardlog.Trace, error)
	Trace(ctx context.Context, trace id.Trace) (cardlog.Trace, error)
	Read(ctx context.Context, trace id.Trace, after card.Seq, bytes int) ([]cards.Frame, error)
	Pending(ctx context.Context, session id.Session) ([]cards.Frame, error)
	Watch(session id.Session) *cardlog.Watcher
}
