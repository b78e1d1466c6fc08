package chat

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Page is a stretch of a conversation, ascending.
type Page struct {
	Messages []Message
	Next     Seq // where to go on; 0 when there is no more
	LastSeq  Seq // of the conversation's newest message

	LastChange ChangeSeq // the page has every change up to this one, of the messages that are on it
}

// Before returns the page before a number, exclusive; 0 means the newest page. Next is the `before` of the page before it.
func (m *Messages) Before(ctx context.Context, user id.User, session id.Session, before Seq, limit int) (Page, error) {
	s, err := m.Sessions.Get(ctx, user, session)
	if err != nil {
		return Page{}, err
	}
	found, err := m.Store.Before(ctx, session, before, limit)
	if err != nil {
		return Page{}, fmt.Errorf("read page: %w", err)
	}
	page := Page{Messages: found, LastSeq: s.LastSeq, LastChange: s.LastChange}
	if len(found) > 0 && found[0].Seq > 1 {
		page.Next = found[0].Seq
	}
	return page, nil
}

// After returns the page after a number, exclusive. Next is the `after` of the page behind it. CursorAhead when the number lies beyond
// the newest message: such a client has seen another record than this one.
func (m *Messages) After(ctx context.Context, user id.User, session id.Session, after Seq, limit int) (Page, error) {
	s, err := m.Sessions.Get(ctx, user, session)
	if err != nil {
		return Page{}, err
	}
	found, err := m.Store.After(ctx, session, after, limit+1)
	if err != nil {
		return Page{}, fmt.Errorf("read page: %w", err)
	}
	page := Page{Messages: found, LastSeq: s.LastSeq, LastChange: s.LastChange}
	if len(found) > limit {
		page.Messages = found[:limit]
		page.Next = found[limit-1].Seq
	}
	if n := len(page.Messages); n > 0 {
		page.LastSeq = max(page.LastSeq, page.Messages[n-1].Seq) // one may have come between the two reads
	}
	if after > page.LastSeq {
		return Page{}, fault.New(fault.CursorAhead, "after_seq is %d but the newest message is %d. Fetch the conversation anew.", after, s.LastSeq)
	}
	return page, nil
}

// ChangePage is a stretch of what has become of the messages of a conversation, in the order of their last changes.
type ChangePage struct {
	Messages []Message
	Next     ChangeSeq // where to go on; 0 when there is no more
	Through  ChangeSeq // whoever has applied the pages up to this one knows every change up to this number
}

// ChangedAfter returns the messages whose last change has a greater number, each as it is now. One that changes while somebody pages comes again at the
// end, so nothing is missed. Of a number beyond the newest change, which was counted in another record than this one, the page is empty.
func (m *Messages) ChangedAfter(ctx context.Context, user id.User, session id.Session, after ChangeSeq, limit int) (ChangePage, error) {
	s, err := m.Sessions.Get(ctx, user, session)
	if err != nil {
		return ChangePage{}, err
	}
	found, err := m.Store.ChangedAfter(ctx, session, after, limit+1)
	if err != nil {
		return ChangePage{}, fmt.Errorf("read page: %w", err)
	}
	page := ChangePage{Messages: found, Through: s.LastChange}
	if len(found) > limit {
		page.Messages = found[:limit]
		page.Next = found[limit-1].Changed
		page.Through = page.Next
	}
	return page, nil
}

// MarkRead moves the user's read mark forward, never back and never beyond the newest message, and returns where it stands. Where it stands
// already, what the user was told of the conversation is read all the same.
func (m *Messages) MarkRead(ctx context.Context, user id.User, session id.Session, to Seq) (Reading, error) {
	s, err := m.Sessions.Get(ctx, user, session)
	if err != nil {
		return Reading{}, err
	}
	if to = min(to, s.LastSeq); to < s.LastRead {
		return s.Reading, nil
	}
	return m.Store.MarkRead(ctx, Mark{Session: session, User: user, To: to})
}

// Unread counts what the user has not read, in all conversations that are neither muted nor dissolved.
func (s *Sessions) Unread(ctx context.Context, user id.User) (Badge, error) {
	return s.Store.Unread(ctx, user)
}
