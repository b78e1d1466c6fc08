package client

import (
	"context"
	"encoding/json"
	"iter"
)

const roundSize = 500 // steps

// Sync tells over REST alone what has happened since the feed's place, and ends when it has told all of it: for programs that run now and then.
// It tells what Follow would have told, by the same rules, and the two may take turns. An error ends it: what it has told until then counts, and
// the next one goes on behind it. Only the parts of a snapshot are asked for again, so give ctx a time limit.
func (f *Feed) Sync(ctx context.Context) iter.Seq2[Update, error] {
	return f.tellAll(ctx, f.client.rounds(ctx, f.at))
}

// rounds tells what /client/sync has behind a place as a stream would.
func (c *Client) rounds(ctx context.Context, at *progress) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{client: c, at: at, yield: yield}
		if err := s.rounds(ctx); err != nil && !s.stopped {
			yield(Event{}, err)
		}
	}
}

func (s *stream) rounds(ctx context.Context) error {
	if err := s.at.applied(); err != nil { // the reader of an earlier loop has come back
		return err
	}
	for more := true; more && !s.stopped; {
		cursor, err := s.at.resume()
		if err != nil {
			return err
		}
		asked := SyncChangesParams{Limit: new(roundSize)}
		if cursor != "" {
			asked.Cursor = &cursor
		}
		page, err := Decode[SyncPage](s.client.api.SyncChanges(ctx, &asked))
		if err := meant(err, page.Resume != ""); err != nil {
			return err
		}
		if err := s.round(page, cursor); err != nil {
			return err
		}
		more = page.More
	}
	return nil
}

// round tells one page: the first one, and one that is no continuation, with what a connection would have begun with.
func (s *stream) round(page SyncPage, cursor string) error {
	hello := &AuthOKPayload{Resume: AuthOKPayloadResume(page.Resume), Reason: page.Reason, Message: page.Message, Cursor: page.Cursor}
	if page.Resume == SyncPageResumeReplayed {
		hello.Cursor = cursor // of what follows the client has nothing yet
	}
	if !s.heard || page.Resume != SyncPageResumeReplayed {
		s.heard, s.placeless = false, cursor == ""
		if err := s.hello(hello); err != nil || s.stopped {
			return err
		}
	}
	for i := range page.Items {
		if err := s.take(&page.Items[i], nil); err != nil || s.stopped {
			return err
		}
	}
	if s.at.handed == page.Cursor {
		return nil
	}
	return s.hello(&AuthOKPayload{Resume: AuthOKPayloadResumeReplayed, Cursor: page.Cursor})
}

// hello tells an auth.ok as a socket would: the first one begins, a later one only moves the cursor.
func (s *stream) hello(h *AuthOKPayload) error {
	payload, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return s.take(&HubWebSocketFrame{Type: HubWebSocketFrameTypeAuthOk, Payload: payload, Cursor: h.Cursor}, h)
}
