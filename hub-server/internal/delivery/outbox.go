package delivery

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Outbox is the committed outbox, read from the store. Safe for concurrent use; each method is one snapshot.
type Outbox interface {
	// Bounds returns how far the outbox reaches.
	Bounds(ctx context.Context) (Bounds, error)

	// Rows returns up to limit rows after a position, whoever they are for, in position order.
	Rows(ctx context.Context, after Position, limit int) ([]Row, error)

	// RowsFor returns up to limit rows with after < position <= upTo that are the user's, in position order. A row is theirs if it is
	// addressed to them, or lies in an interval of their membership of a conversation that they belong to now. ErrTrimmed when after lies
	// below the floor.
	RowsFor(ctx context.Context, user id.User, after, upTo Position, limit int) ([]Row, error)

	// Backlog measures what RowsFor would give, and stops counting beyond limit rows.
	Backlog(ctx context.Context, user id.User, after, upTo Position, limit int) (Backlog, error)

	// SessionsOf returns the conversations that the user was in at a position.
	SessionsOf(ctx context.Context, user id.User, at Position) ([]id.Session, error)
}

// ErrTrimmed means that rows behind a position are no longer kept: nobody can go on from there.
var ErrTrimmed = errors.New("the outbox is trimmed beyond that position")

// Bounds is the part of the outbox that exists: rows from Floor+1 to Head.
type Bounds struct {
	Epoch wire.Epoch
	Floor Position // this one and those below are gone
	Head  Position // the last committed one
}

// Backlog is how much a client has missed.
type Backlog struct {
	Rows  int
	Bytes int64 // of payloads, roughly
}

// Expander turns rows into frames. What they are about is read for all of them together. Safe for concurrent use.
type Expander interface {
	// Expand returns what each of the rows says, in their order. No frames is a fine answer: the row concerns no client. An error means that
	// the store could not be read or a row is of a newer format: what comes before that row is returned with it, and nothing behind it is
	// delivered until it succeeds.
	Expand(ctx context.Context, rows []Row) ([]Expansion, error)
}

// Expansion is what a row says. When not everybody may see the same, Others is what everybody but Owner gets, frame by frame.
type Expansion struct {
	Bodies []Body
	Owner  id.User
	Others []Body // nil: the same
}
