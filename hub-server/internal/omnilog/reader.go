package omnilog

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Reader reads a conversation from a place on, at its own pace. It belongs to one goroutine.
type Reader struct {
	line  *line
	ready chan struct{}
	after int64

	// Of a reader that is behind.
	own   *fold
	drops int // of the line's, when the fold was read
}

// FromTheBeginning is the place before everything that is kept.
const FromTheBeginning = int64(-1)

// Follow begins to read behind a place: ErrAhead if the conversation has not come there, ErrTrimmed if it is not kept from there on, ErrUnknown.
// What is committed from now on gives a signal. Close the reader at the end.
func (l *Logs) Follow(ctx context.Context, session id.Session, after int64) (*Reader, View, error) {
	r := &Reader{line: l.take(session), ready: make(chan struct{}, 1)}
	l.mu.Lock()
	r.line.readers[r] = struct{}{}
	l.mu.Unlock()
	view, err := r.begin(ctx, after)
	if err != nil {
		r.Close()
		return nil, view, err
	}
	return r, view, nil
}

// FollowNow begins to read behind what was committed before.
func (l *Logs) FollowNow(ctx context.Context, session id.Session) (*Reader, View, error) {
	return l.Follow(ctx, session, toTheEnd)
}

// begin puts the reader at a place.
func (r *Reader) begin(ctx context.Context, after int64) (View, error) {
	view, err := r.line.view(ctx)
	switch {
	case err != nil:
		return view, err
	case after == toTheEnd:
		r.after = view.Place
	case after == FromTheBeginning:
		r.after = view.Floor
	case after > view.Place:
		return view, ErrAhead
	case after < view.Floor:
		return view, ErrTrimmed
	default:
		r.after = after
	}
	return view, nil
}

// Ready has a value when there may be more to Read. Any number of signals are one. After an error of Read, read again a moment later: nobody signals
// the same once more.
func (r *Reader) Ready() <-chan struct{} { return r.ready }

// Look has the next Read ask the store whether there is more: any hint may be lost.
func (r *Reader) Look() {
	r.line.moved.Store(true)
	r.line.behind.Store(true)
}

// Named counts how often the conversation may have got another title.
func (r *Reader) Named() int {
	l := r.line.logs
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.line.named
}

// After is the place up to which the reader has read.
func (r *Reader) After() int64 { return r.after }

// Close ends the reading.
func (r *Reader) Close() {
	l := r.line.logs
	l.mu.Lock()
	delete(r.line.readers, r)
	l.mu.Unlock()
	l.leave(r.line)
}

// Read returns the entries that come next, of about so many bytes, and whether there may be more at once. ErrTrimmed if what comes next has left meanwhile.
func (r *Reader) Read(ctx context.Context, bytes int) (entries []Entry, more bool, err error) {
	if err := r.line.follow(ctx); err != nil {
		return nil, false, err
	}
	if entries, upTo, ok := r.line.recent.after(r.after, bytes); ok {
		r.after, r.own = upTo, nil
		return entries, upTo < r.line.recent.end(), nil
	}
	entries, err = r.older(ctx)
	return entries, true, err
}

// older reads a page of what the line does not have any more.
func (r *Reader) older(ctx context.Context) ([]Entry, error) {
	drops := r.line.recent.dropped()
	if r.own == nil || r.drops != drops && r.own.loose() {
		begin, err := r.line.logs.store.Checkpoint(ctx, r.line.session, r.after, Rules)
		if err != nil {
			return nil, err
		}
		if r.own, err = r.foldTo(ctx, begin, r.after); err != nil {
			return nil, err
		}
	}
	r.drops = drops
	page, err := r.facts(ctx, r.after, toTheEnd)
	if err != nil {
		return nil, err
	}
	entries := r.own.all(page)
	r.after = page.UpTo
	return entries, nil
}

// facts reads a page for the reader alone. One with a hole is trimmed: what has left is not passed over, and the conversation begins behind it.
func (r *Reader) facts(ctx context.Context, after, upTo int64) (Facts, error) {
	page, err := r.line.logs.store.Facts(ctx, r.line.session, after, upTo, r.line.logs.page)
	switch {
	case err != nil:
		return page, err
	case page.Gone > 0:
		if err := r.line.logs.lost(ctx, r.line.session, page.Gone); err != nil {
			return page, err
		}
		return page, fmt.Errorf("read behind place %d: %w", after, ErrTrimmed)
	case page.UpTo <= after:
		return page, fmt.Errorf("nothing was read behind place %d of %d", after, page.Head)
	}
	r.line.logs.metrics.behind.Add(float64(len(page.Facts)))
	return page, nil
}

// foldTo goes on from a checkpoint to a place.
func (r *Reader) foldTo(ctx context.Context, begin Begin, place int64) (*fold, error) {
	f, err := foldAt(begin)
	if err != nil {
		return nil, err
	}
	for f.state.Place() < place {
		page, err := r.facts(ctx, f.state.Place(), place)
		if err != nil {
			return nil, err
		}
		f.all(page)
	}
	return f, nil
}

// trimmed says of an error that what was asked for has left.
func trimmed(err error) bool { return errors.Is(err, ErrTrimmed) }
