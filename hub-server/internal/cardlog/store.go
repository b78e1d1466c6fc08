package cardlog

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Errors of a Store and of Logs.
var (
	// ErrTaken means that another hub has moved the trace on, or that it was made anew: read it again.
	ErrTaken = errors.New("the trace was moved on by somebody else")
	// ErrUnknown means that there is no such trace: not any more, if there ever was.
	ErrUnknown = errors.New("there is no such trace")
	// ErrExpired means that some of the frames that were asked for have left with the logs that they tell.
	ErrExpired = errors.New("frames of the trace have expired")
)

// Trace is what cards have told of a conversation so far (R6). It lasts as long as the conversation and the life of the store.
type Trace struct {
	ID      id.Trace
	Session id.Session
	Floor   card.Seq // frames up to it have left
	Head    card.Seq // the newest frame
}

// Checkpoint is a trace with all that it takes to go on with it.
type Checkpoint struct {
	Trace
	Epoch wire.Epoch // of the store that it was made in
	Place int64      // in the conversation's order: what lies up to it is told
	Rules int        // which told the newest frames
	State []byte
}

// Page bounds what is read or told at once: about so many facts, of about so many bytes.
type Page struct {
	Facts, Bytes int
}

// Facts are what happened in a conversation behind a place.
type Facts struct {
	Facts []cards.Fact // in their order; nothing is among them that has left the store or was taken back
	UpTo  int64        // everything up to this place is among them
	Head  int64        // the newest place when they were read
	// Changes counts what was done to messages of the conversation before that: one that is taken back later must not be told from these facts.
	Changes int64
}

// Orphan is the end of a card of which nothing was heard for too long, as it is prepared.
type Orphan struct {
	Session id.Session
	Run     id.Run
	Place   int64        // the newest place of the conversation when it was prepared
	Entry   runlog.Entry // run.card_orphaned
	Timer   timer.Timer  // that has fired
	Next    time.Time    // and when it fires again, unless somebody sets it anew
}

// Store keeps traces and reads what they tell. Safe for concurrent use, by several hubs too.
type Store interface {
	// Epoch is the store's, now.
	Epoch() wire.Epoch
	// Checkpoint returns a conversation's trace, false if it has none.
	Checkpoint(ctx context.Context, session id.Session) (Checkpoint, bool, error)
	// Make stores the first checkpoint of a conversation's trace, unless it has a trace of the same epoch; one of another goes with its frames. It
	// returns what there is then; ErrUnknown for a conversation that is not there.
	Make(ctx context.Context, first Checkpoint) (Checkpoint, error)
	// Facts returns what happened behind a place, a page of it.
	Facts(ctx context.Context, session id.Session, after int64, page Page) (Facts, error)
	// Append stores frames that follow on from, and makes to the checkpoint, in one transaction that also makes sure that the trace's watchdog looks
	// at due at the latest, unless that is zero. ErrTaken unless the trace still stood at from, and with frames unless messages are as they were with
	// so many changes: as the facts had them that frames tell.
	Append(ctx context.Context, from, to Checkpoint, frames []cards.Frame, changes int64, due time.Time) error
	// Trace returns a trace by its id; ErrUnknown.
	Trace(ctx context.Context, trace id.Trace) (Trace, error)
	// Frames returns frames behind a number, at least one if there is any, and then about so many bytes; ErrUnknown, ErrExpired.
	Frames(ctx context.Context, trace id.Trace, after card.Seq, bytes int) ([]cards.Frame, error)
	// Pending returns the frames of the questions in a conversation that wait for a person, as they were first sent, the oldest first.
	Pending(ctx context.Context, session id.Session) ([]cards.Frame, error)
	// Rearm makes the watchdog of a trace look at another time, or never for zero. ErrTaken unless the trace stands at the checkpoint and the timer is
	// still as it was.
	Rearm(ctx context.Context, at Checkpoint, t timer.Timer, due time.Time) error
	// Orphan appends run.card_orphaned to the log of a run and moves the trace's watchdog, in one transaction. It says whether it did: not if the
	// run has ended, if anything has happened in the conversation behind Orphan.Place, or if somebody else has taken the timer.
	Orphan(ctx context.Context, o Orphan) (bool, error)
}
