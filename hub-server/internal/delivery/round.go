package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Round is one answer to a client that comes without a socket: what a socket would have sent it after its cursor, or the beginning.
type Round struct {
	Plan
	Frames []Frame // whole rows in position order
	To     Cursor  // behind them: there is nothing for the client between the last of them and here
	More   bool    // there may be more behind To

	at Position // of To
}

// Rounds is the outbox for clients without a socket. It gives them the same frames by the same rules, a page at a time. However much they
// have missed, they get all of it: each page is bounded, so that nothing has to be given up. Safe for concurrent use.
type Rounds struct {
	Tail      *Tail
	Followers *Followers // of who waits
}

// Next returns up to limit rows after a cursor, "" for a client that has none yet. An error means that the store could not be read.
func (r Rounds) Next(ctx context.Context, user id.User, cursor string, limit int) (Round, error) {
	t := r.Tail
	select {
	case t.catchUps <- struct{}{}:
		defer func() { <-t.catchUps }()
	case <-ctx.Done():
		return Round{}, context.Cause(ctx)
	}
	bounds, err := t.outbox.Bounds(ctx)
	if err != nil {
		return Round{}, fmt.Errorf("plan round: %w", err)
	}
	round := begin(plan(cursor, nil, bounds), bounds)
	if round.Outcome != Replayed {
		return round, nil
	}
	err = r.fill(ctx, user, &round, bounds, limit)
	if errors.Is(err, ErrTrimmed) { // since the bounds were read
		return begin(reset(Trimmed, bounds), bounds), nil
	}
	return round, err
}

// begin is a round that has nothing yet.
func begin(p Plan, b Bounds) Round {
	p.Cursor = NewCursor(b.Epoch, p.From)
	return Round{Plan: p, To: p.Cursor, at: p.From}
}

// fill adds the first rows that there are. Positions are looked at a window at a time, see Stream.pageOfStore.
func (r Rounds) fill(ctx context.Context, user id.User, round *Round, b Bounds, limit int) error {
	for window := Position(firstWindow); round.at < b.Head && len(round.Frames) == 0; window = min(2*window, maxWindow) {
		upTo := min(b.Head, round.at+window)
		rows, err := r.Tail.outbox.RowsFor(ctx, user, round.at, upTo, limit)
		if err != nil {
			return fmt.Errorf("read round after %d: %w", round.at, err)
		}
		if len(rows) == limit {
			upTo = rows[limit-1].Position
		}
		if err := r.expand(ctx, user, round, rows, upTo); err != nil {
			return err
		}
	}
	round.To, round.More = NewCursor(b.Epoch, round.at), round.at < b.Head
	return nil
}

// expand adds a page of frames of rows; behind all of them the round has come to reach.
func (r Rounds) expand(ctx context.Context, user id.User, round *Round, rows []Row, reach Position) error {
	frames, done, err := r.Tail.pageOf(ctx, user, allPassed(rows))
	if err != nil {
		return err
	}
	if done < len(rows) {
		reach = rows[done-1].Position
	}
	round.Frames, round.at = frames, reach
	return nil
}

// Await is Next for a client that would rather wait than hear that there is nothing: until there is something, its login ends, the hub stops, or
// enough is closed. Errors: those of Next, fault.RateLimited for a user who waits too often at once, fault.Busy while the hub stops.
func (r Rounds) Await(ctx context.Context, who account.Principal, cursor string, limit int, enough <-chan struct{}) (Round, error) {
	round, err := r.Next(ctx, who.User, cursor, limit)
	if err != nil || !round.idle() {
		return round, err
	}
	follower, err := r.Followers.Wait(who)
	if err != nil {
		return Round{}, err
	}
	defer follower.Close()
	stream, err := r.Tail.Open(ctx, who.User, round.at)
	if err != nil {
		return Round{}, err
	}
	defer stream.Close()
	for {
		select {
		case <-ctx.Done():
			return Round{}, context.Cause(ctx)
		case <-follower.Gone():
			return round, nil
		case <-enough:
			return round, nil
		case <-stream.Ready():
		}
		// The stream only says that something came. It may be a frame that is in no record, such as somebody's typing.
		switch frames, err := stream.Next(ctx); {
		case errors.Is(err, ErrTrimmed): // the round says so
		case err != nil:
			return Round{}, err
		case len(frames) == 0:
			continue
		}
		if round, err = r.Next(ctx, who.User, string(round.To), limit); err != nil || !round.idle() {
			return round, err
		}
	}
}

// idle says that the client has all there is.
func (r *Round) idle() bool { return r.Outcome == Replayed && len(r.Frames) == 0 && !r.More }
