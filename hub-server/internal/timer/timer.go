// Package timer is what is due at a time, kept as rows of the store (architecture 7): of several hubs that see a timer one acts, and none is
// lost with the hub that was about to. Activity never moves a timer: when it is due, whoever it belongs to computes from the record when it
// really is, and arms it again.
package timer

import (
	"context"
	"errors"
	"time"
)

// Kind is what becomes due. Names are stored.
type Kind string

// Kinds.
const (
	PromptExpiry Kind = "prompt.expiry"    // key: the question
	SessionEnd   Kind = "session.end"      // key: a conversation that was dissolved
	OutboxTrim   Kind = "retention.outbox" // a turn at removing what devices need not be told any more
	RunsLeave    Kind = "retention.runs"   // a turn at archiving what has ended

	NoticeTrim Kind = "retention.notifications" // a turn at removing what people have read long ago

	CardOrphans Kind = "cards.orphans" // key: a conversation in which cards are open of which nothing may be heard any more
)

// Timer is a row.
type Timer struct {
	Kind Kind
	Key  string    // "" for a turn at work of the whole store
	Due  time.Time // in microseconds
}

// ErrTaken means that a timer is not due at that time any more: it was fired, moved or removed by somebody else.
var ErrTaken = errors.New("the timer was taken by somebody else")

// Store keeps timers. Safe for concurrent use. What a timer fires is stored in the transaction that takes it, by whoever stores that.
type Store interface {
	// Arm adds a timer, unless there is one of its kind and key.
	Arm(ctx context.Context, t Timer) error
	// Due returns up to limit timers of a kind that are due at now, the oldest first.
	Due(ctx context.Context, kind Kind, now time.Time, limit int) ([]Timer, error)
	// Move makes t due at another time; ErrTaken.
	Move(ctx context.Context, t Timer, due time.Time) error
	// Drop removes t: what it is about is over. ErrTaken.
	Drop(ctx context.Context, t Timer) error
}

// Turn is work of a whole store that one of its hubs does about once a period. The next turn is due a period after the last one began, also if
// the hub that took it died in the middle: such work goes on wherever it was left.
type Turn struct {
	Store Store
	Kind  Kind
	Every time.Duration
}

// Begin makes sure that there will be a turn.
func (t Turn) Begin(ctx context.Context, now time.Time) error {
	return t.Store.Arm(ctx, Timer{Kind: t.Kind, Due: now.Add(t.Every).Truncate(time.Microsecond)})
}

// Take says whether a turn is due at now and this hub's.
func (t Turn) Take(ctx context.Context, now time.Time) (bool, error) {
	due, err := t.Store.Due(ctx, t.Kind, now, 1)
	if err != nil || len(due) == 0 {
		return false, err
	}
	err = t.Store.Move(ctx, due[0], now.Add(t.Every).Truncate(time.Microsecond))
	if errors.Is(err, ErrTaken) {
		return false, nil
	}
	return err == nil, err
}
