package client

import (
	"context"
	"time"
)

// connected fills the hole that a new connection leaves, if the hub has not continued the one before.
func (f *Feed) connected(ctx context.Context, e Event, tell func(Update) error) error {
	f.reducer.Of(f.client.tokens.user())
	f.reducer.connected()
	if !f.before {
		f.resumed = !e.Snapshot && f.options.Begin != BeginWhole
	}
	if f.began.IsZero() {
		f.began = time.Now()
	}
	f.owed = f.owed || f.incomplete(e)
	f.doubtChanges(e.Resume)
	if err := f.whole(ctx, e, tell); err != nil {
		return err
	}
	f.before = true
	return tell(Update{Ready: true, Cursor: e.Frame.Cursor})
}

// whole tells an event and the snapshot that is owed. Whoever leaves in the middle of it is owed it again.
func (f *Feed) whole(ctx context.Context, e Event, tell func(Update) error) error {
	err := tell(Update{Event: e})
	if err == nil && f.owed {
		err = f.snapshot(ctx, f.since(), tell)
	}
	if err != nil {
		f.at.takeBack()
		return err
	}
	f.owed = false
	return nil
}

// incomplete says whether a snapshot has to fill what the new connection lacks.
func (f *Feed) incomplete(e Event) bool {
	if f.before {
		return e.Snapshot
	}
	switch f.options.Begin {
	case BeginLive:
		return !f.options.Since.IsZero()
	case BeginMissed:
		return e.Snapshot
	}
	return true
}

// since is how old a message may be that a snapshot tells of a conversation which was not heard of before. With BeginLive nothing was said there
// since this feed began, as far as it knows; when a later link broke does not matter, for that is noticed late.
func (f *Feed) since() time.Time {
	if f.before && f.options.Begin == BeginLive {
		return f.began
	}
	return f.options.Since
}

// restored fills the hole that a frame of the connection speaks of.
func (f *Feed) restored(ctx context.Context, e Event, tell func(Update) error) error {
	f.owed = true
	if err := f.whole(ctx, e, tell); err != nil {
		return err
	}
	return tell(Update{Ready: true, Cursor: e.Frame.Cursor})
}
