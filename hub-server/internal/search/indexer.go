package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	lookEvery      = 500 * time.Millisecond
	tryAgain       = 5 * time.Second  // after trouble with the store
	stepAside      = 15 * time.Second // for another hub that does the same
	changesPage    = 128              // messages
	fillPage       = 256              // messages
	maxTermsAtOnce = 1000             // of one transaction, so that it holds nobody up for long
	moveEvery      = 10 * time.Second // the place is written down when there is no message to enter
	tellEvery      = 10 * time.Second
)

// ErrTaken means that another hub has moved the index on.
var ErrTaken = errors.New("another hub fills the index")

// Progress is how far the index has come: a row of the store.
type Progress struct {
	Step   int64             // counts its changes: whoever moves it says which state they move it from
	Place  delivery.Position // everything up to it is in the index
	Fill   Fill              // likewise of the messages that were there before the index
	Blocks BlockID           // the last number given out
}

// Fill is a place among the messages that were there before the index, ordered by conversation and number.
type Fill struct {
	Session id.Session
	Seq     chat.Seq
	Done    bool
}

// Changes are what the outbox says behind a place.
type Changes struct {
	Messages []chat.Message
	UpTo     delivery.Position // what was changed up to there is among them
	More     bool
	Lost     bool // what comes first behind the place was trimmed: a hub that knows nothing of the index has done so
}

// Index is the index and what it is made from. Safe for concurrent use, by several hubs too.
type Index interface {
	// Progress returns how far the index has come; it makes an empty index where there is none.
	Progress(ctx context.Context) (Progress, error)
	// Changed returns messages that were sent, edited or taken back behind a place, as they stand, for up to limit such changes.
	Changed(ctx context.Context, after delivery.Position, limit int) (Changes, error)
	// Behind returns up to limit messages behind a place of the filling, as they stand.
	Behind(ctx context.Context, after Fill, limit int) ([]chat.Message, error)
	// Enter puts entries into the index and moves it from one state to the next, in one transaction; it gives blocks that are new their numbers.
	// Entering the same once more changes nothing. It returns the state then; ErrTaken unless it was at from.
	Enter(ctx context.Context, from, to Progress, entries []Entry) (Progress, error)
}

// Indexer keeps the index up. Every hub of a store has one: of several one is at work, and the others look now and then whether it still is.
type Indexer struct {
	Index   Index
	Log     *slog.Logger
	Metrics *Metrics

	entered int       // messages; owned by Run
	told    time.Time // likewise: when the log was told of the filling
	moved   time.Time // likewise: when the place was written down
}

// Run keeps the index up until ctx ends. What fails is logged and tried again.
func (x *Indexer) Run(ctx context.Context) error {
	for {
		wait := lookEvery
		switch err := x.CatchUp(ctx); {
		case errors.Is(err, ErrTaken):
			wait = stepAside
		case err != nil && ctx.Err() == nil:
			x.Log.Error("messages cannot be put into the index of the search", "error", err)
			wait = tryAgain
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// CatchUp puts everything that is there into the index. ErrTaken when another hub does so.
func (x *Indexer) CatchUp(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = x.step(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// step puts one page of what is new into the index, then one of what was there before, and says whether there is more.
func (x *Indexer) step(ctx context.Context) (more bool, err error) {
	p, err := x.Index.Progress(ctx)
	if err != nil {
		return false, err
	}
	p, more, err = x.follow(ctx, p)
	if err != nil || p.Fill.Done {
		return more, err
	}
	return true, x.fill(ctx, p)
}

func (x *Indexer) follow(ctx context.Context, p Progress) (Progress, bool, error) {
	changed, err := x.Index.Changed(ctx, p.Place, changesPage)
	if err != nil {
		return p, false, fmt.Errorf("read what is new: %w", err)
	}
	x.Metrics.behind(changed.UpTo - p.Place)
	if changed.UpTo == p.Place || len(changed.Messages) == 0 && !changed.Lost && time.Since(x.moved) < moveEvery {
		return p, changed.More, nil
	}
	to := p
	to.Place = changed.UpTo
	if changed.Lost {
		x.Log.Warn("the outbox was trimmed before the index of the search had read it: all messages are read again")
		to.Fill = Fill{}
	}
	p, err = x.enter(ctx, p, to, changed.Messages)
	x.moved = time.Now()
	return p, changed.More, err
}

func (x *Indexer) fill(ctx context.Context, p Progress) error {
	found, err := x.Index.Behind(ctx, p.Fill, fillPage)
	if err != nil {
		return fmt.Errorf("read older messages: %w", err)
	}
	to := p
	if len(found) > 0 {
		last := found[len(found)-1]
		to.Fill.Session, to.Fill.Seq = last.Session, last.Seq
	}
	to.Fill.Done = len(found) < fillPage
	if _, err := x.enter(ctx, p, to, found); err != nil {
		return err
	}
	x.tell(len(found), to.Fill)
	return nil
}

// tell keeps the log informed of a filling that takes a while.
func (x *Indexer) tell(n int, at Fill) {
	x.entered += n
	switch {
	case at.Done && x.entered > 0:
		x.Log.Info("older messages can be searched now", "messages", x.entered)
	case !at.Done && time.Since(x.told) > tellEvery:
		x.told = time.Now()
		x.Log.Info("older messages are being put into the index of the search", "messages", x.entered)
	}
}

// enter enters messages in portions that hold nobody up; the last of them moves the index on.
func (x *Indexer) enter(ctx context.Context, from, to Progress, messages []chat.Message) (Progress, error) {
	var portion []Entry
	size := 0
	for _, m := range messages {
		for e := EntryOf(m); ; {
			room := maxTermsAtOnce - size
			if len(e.Terms) <= room {
				portion, size = append(portion, e), size+len(e.Terms)
				break
			}
			part := e
			part.Terms, e.Terms = e.Terms[:room], e.Terms[room:]
			e.Anew = false // the part before has removed what was there
			stay := from
			var err error
			if from, err = x.Index.Enter(ctx, from, stay, append(portion, part)); err != nil {
				return from, err
			}
			portion, size = nil, 0
		}
	}
	from, err := x.Index.Enter(ctx, from, to, portion)
	if err == nil {
		x.Metrics.count(len(messages))
	}
	return from, err
}
