package client

import "context"

// joins says whether a frame brings a conversation that was not known, or one of which not everything was told.
func (f *Feed) joins(frame HubWebSocketFrame, id SessionID) bool {
	if frame.Type != HubWebSocketFrameTypeSessionCreated || f.options.Begin == BeginLive {
		return false
	}
	_, known := f.reducer.records[recordKey("session", id)]
	return !known || f.joining[id]
}

// join tells a conversation, how far its people have read, what was said in it before, and what waits there for an answer: whoever was added hears only
// what comes after. The place behind all of it is the last update's.
func (f *Feed) join(ctx context.Context, e Event, verdict Verdict, id SessionID, tell func(Update) error) error {
	f.joining[id] = true
	err := tell(Update{Event: e, New: verdict == Applied})
	if err == nil {
		err = f.entered(ctx, id, tell)
	}
	if err == nil {
		err = f.said(ctx, id, tell)
	}
	if err == nil {
		err = f.questions(ctx, id, tell)
	}
	if err != nil {
		f.at.takeBack()
		return err
	}
	delete(f.joining, id)
	return tell(Update{Cursor: e.Frame.Cursor})
}

// entered tells how a conversation stands. One that is refused was left since.
func (f *Feed) entered(ctx context.Context, id SessionID, tell func(Update) error) error {
	now, err := ask(ctx, tell, func() (keptSession, error) {
		found, err := Decode[keptSession](f.api.GetSession(ctx, id))
		return found, meant(err, found.ID == id)
	})
	if err != nil {
		return forgivable(err)
	}
	return f.conversation(now, tell)
}

// said tells what was said in one conversation after what was told of it.
func (f *Feed) said(ctx context.Context, id SessionID, tell func(Update) error) error {
	fetch := f.unheard
	if f.hollow[id] {
		fetch = f.newest
	}
	missed, err := fetch(ctx, id, f.options.Since, tell)
	if err != nil {
		err = forgivable(err)
		f.hollow[id] = err == nil
		return err
	}
	delete(f.hollow, id)
	if err := f.tellMessages(missed.messages, tell); err != nil {
		return err
	}
	if missed.known {
		f.changes[id] = missed.through
	}
	return nil
}
