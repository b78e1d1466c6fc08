package omnilog

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Errors of a Store and of Logs.
var (
	// ErrUnknown means that there is no such conversation.
	ErrUnknown = errors.New("there is no such conversation")
	// ErrTrimmed means that a place lies before what is kept of the conversation.
	ErrTrimmed = errors.New("the conversation is not kept from that place on")
	// ErrAhead means that a place lies behind all that has happened.
	ErrAhead = errors.New("the conversation has not come to that place")
	// ErrMoved means that a message was changed since the facts were read that a checkpoint is of: it is not stored.
	ErrMoved = errors.New("messages have changed meanwhile")
)

// Page bounds what is read at once: about so many facts, of about so many bytes, their blobs included.
type Page struct {
	Facts, Bytes int
}

// Facts are what happened in a conversation behind a place.
type Facts struct {
	Facts []omni.Fact // in their order; nothing is among them that has left the store or was taken back
	UpTo  int64       // everything up to this place is among them
	Gone  int64       // the newest place up to UpTo whose event has left the store, 0 for none
	Head  int64       // the newest place when they were read
	// Changes counts what was done to messages of the conversation before that.
	Changes int64
}

// Checkpoint is the fold of everything up to a place.
type Checkpoint struct {
	Session id.Session
	Place   int64 // 0: before everything, and State is nil
	Rules   int
	State   []byte

	LooseFrom, LooseTo int64 // between which places messages stand on whose words it depends, 0 and 0 for none
}

// Begin is where reading may begin.
type Begin struct {
	Checkpoint
	Floor   int64 // the conversation is kept behind it, 0: from its beginning
	Changes int64 // done to messages before the checkpoint was read
}

// Store keeps checkpoints and reads what happened. Safe for concurrent use, by several hubs too.
type Store interface {
	// Epoch is the store's, now.
	Epoch() wire.Epoch
	// Facts returns what happened behind a place and up to another, a page of it: at least one fact where there is any. ErrUnknown.
	Facts(ctx context.Context, session id.Session, after, upTo int64, page Page) (Facts, error)
	// Active returns the runs of a conversation that have not ended, in the order in which they came.
	Active(ctx context.Context, session id.Session) ([]Active, error)
	// Floor is behind which place a conversation is kept, 0 for one that is kept from its beginning.
	Floor(ctx context.Context, session id.Session) (int64, error)
	// Checkpoint returns the newest checkpoint up to a place that was made by these rules, or is the one at the floor. ErrTrimmed for a place before
	// the floor, with which it comes; ErrUnknown.
	Checkpoint(ctx context.Context, session id.Session, upTo int64, rules int) (Begin, error)
	// Save stores a checkpoint, unless there is one already. ErrMoved if a message on whose words it depends has changed since so many changes were done.
	Save(ctx context.Context, cp Checkpoint, changes int64) error
	// Raise has a conversation begin at the first checkpoint of these rules from a place on, and stores this one if there is none; unless it begins
	// there or behind it already. It depends on no words.
	Raise(ctx context.Context, cp Checkpoint) error
}
