package delivery

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// A client further behind than this takes a snapshot instead of a replay.
const (
	maxReplayRows  = 5000
	maxReplayBytes = 4 << 20
)

// Outcome is what became of a client's wish to go on where it was: payload.resume of auth.ok (ruling R1).
type Outcome string

// Outcomes.
const (
	Replayed Outcome = "replayed" // everything after its position follows
	Reset    Outcome = "reset"    // cannot be replayed: take a REST snapshot
	Fresh    Outcome = "fresh"    // never seen before: take a REST snapshot
)

// Reason says why a Reset; for programs.
type Reason string

// Reasons of a Reset.
const (
	NoReason      Reason = ""
	CursorInvalid Reason = "cursor_invalid"
	OtherEpoch    Reason = "other_epoch"
	CursorAhead   Reason = "cursor_ahead"
	Trimmed       Reason = "trimmed"
	TooFarBehind  Reason = "too_far_behind"
)

// Sentence is the reason for people.
func (r Reason) Sentence() string {
	switch r {
	case CursorInvalid:
		return "The cursor is none that this hub gives. Fetch your conversations again, then go on from the cursor of this frame."
	case OtherEpoch:
		return "The hub was restored since the cursor was made. Fetch your conversations again, then go on from the cursor of this frame."
	case CursorAhead:
		return "The cursor is ahead of everything that this hub has. Fetch your conversations again, then go on from the cursor of this frame."
	case Trimmed:
		return "What comes after the cursor is no longer kept. Fetch your conversations again, then go on from the cursor of this frame."
	case TooFarBehind:
		return "Too much has happened since the cursor. Fetch your conversations again, then go on from the cursor of this frame."
	}
	return ""
}

// Plan is how a connection begins: with everything after From.
type Plan struct {
	Outcome Outcome
	Reason  Reason
	From    Position
	Cursor  Cursor // of From
}

// Mark is a place in the outbox of one epoch.
type Mark struct {
	Epoch    wire.Epoch
	Position Position
}

// plan decides from what the client shows, or else from what is known of its device, and from what the store has.
func plan(cursor string, device *Mark, b Bounds) Plan {
	switch {
	case cursor != "":
		epoch, p, err := ParseCursor(cursor)
		if err != nil {
			return reset(CursorInvalid, b)
		}
		return planFrom(Mark{epoch, p}, b)
	case device != nil:
		return planFrom(*device, b)
	}
	return Plan{Outcome: Fresh, From: b.Head}
}

func planFrom(m Mark, b Bounds) Plan {
	switch {
	case m.Epoch != b.Epoch:
		return reset(OtherEpoch, b)
	case m.Position > b.Head:
		return reset(CursorAhead, b)
	case m.Position < b.Floor:
		return reset(Trimmed, b)
	}
	return Plan{Outcome: Replayed, From: m.Position}
}

func reset(why Reason, b Bounds) Plan { return Plan{Outcome: Reset, Reason: why, From: b.Head} }

// within gives up a replay that would be too long.
func (p Plan) within(missed Backlog, b Bounds) Plan {
	if p.Outcome == Replayed && (missed.Rows > maxReplayRows || missed.Bytes > maxReplayBytes) {
		return reset(TooFarBehind, b)
	}
	return p
}

// Planner decides where connections begin. Safe for concurrent use.
type Planner struct {
	Outbox Outbox
	Marks  *Marks

	// Missed knows without the store, and maybe a little too high, how much comes after a position; false if it does not. May be nil.
	Missed func(Position) (Backlog, bool)
}

// Plan reads what it takes and decides. An error means that the store could not be read.
func (p Planner) Plan(ctx context.Context, user id.User, device id.Device, cursor string) (Plan, error) {
	// The mark first: what is committed meanwhile only raises the head.
	var known *Mark
	if cursor == "" {
		mark, ok, err := p.Marks.Last(ctx, user, device)
		if err != nil {
			return Plan{}, fmt.Errorf("plan resume: %w", err)
		}
		if ok {
			known = &mark
		}
	}
	bounds, err := p.Outbox.Bounds(ctx)
	if err != nil {
		return Plan{}, fmt.Errorf("plan resume: %w", err)
	}
	decided := plan(cursor, known, bounds)
	if decided.Outcome == Replayed && !p.surelyWithin(decided, bounds) {
		missed, err := p.Outbox.Backlog(ctx, user, decided.From, bounds.Head, maxReplayRows+1)
		if err != nil {
			return Plan{}, fmt.Errorf("plan resume: %w", err)
		}
		decided = decided.within(missed, bounds)
	}
	decided.Cursor = NewCursor(bounds.Epoch, decided.From)
	return decided, nil
}

// surelyWithin says whether a replay is short whoever it is for, so that the store need not be asked.
func (p Planner) surelyWithin(decided Plan, b Bounds) bool {
	if p.Missed == nil {
		return false
	}
	missed, known := p.Missed(decided.From)
	return known && decided.within(missed, b).Outcome == Replayed
}
