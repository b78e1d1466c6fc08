package client

import (
	"context"
	"slices"
	"time"
)

const perSession = 100 // messages of a conversation that was not heard of before

// stretch is what was missed of one conversation.
type stretch struct {
	messages []keptMessage
	through  ChangeSeq // whoever was told the messages knows every change up to this one
	known    bool      // through says so
}

// missed tells what was said in conversations and what has become of what was said before, in the order of time. One that is refused was left since
// they were listed.
func (f *Feed) missed(ctx context.Context, sessions []keptSession, since time.Time, tell func(Update) error) error {
	var missed []keptMessage
	through := map[SessionID]ChangeSeq{}
	for _, s := range sessions {
		news, err := f.news(ctx, s, since, tell)
		if err := forgivable(err); err != nil {
			return err
		}
		missed = append(missed, news.messages...)
		if news.known {
			through[s.ID] = news.through
		}
	}
	slices.SortStableFunc(missed, func(a, b keptMessage) int { return a.CreatedAt.Compare(b.CreatedAt) })
	if err := f.tellMessages(missed, tell); err != nil {
		return err
	}
	for id, number := range through {
		f.changes[id] = number
	}
	return nil
}

// news returns what was missed of a conversation that a list has, or nothing if the list says that there is nothing.
func (f *Feed) news(ctx context.Context, s keptSession, since time.Time, tell func(Update) error) (stretch, error) {
	head, known := f.heads[s.ID]
	if !known && s.UpdatedAt.Before(since) || known && head >= s.LastSeq && f.changes[s.ID] == s.LastChange {
		return stretch{}, nil
	}
	return f.unheard(ctx, s.ID, since, tell)
}

// unheard returns what was said in a conversation after what was told of it with what has become of that, or what was said since a time if nothing
// was told.
func (f *Feed) unheard(ctx context.Context, id SessionID, since time.Time, tell func(Update) error) (stretch, error) {
	head, known := f.heads[id]
	if !known {
		return f.newest(ctx, id, since, tell)
	}
	later, err := f.after(ctx, id, head, tell)
	if err != nil {
		return stretch{}, err
	}
	changed, err := f.changed(ctx, id, tell)
	if err := forgivable(err); err != nil {
		return stretch{}, err
	}
	// What came after the head is there already, and what is older than the time is none of the caller's.
	of := slices.DeleteFunc(changed.messages, func(m keptMessage) bool { return m.SeqID > head || m.CreatedAt.Before(since) })
	changed.messages = slices.Concat(of, later)
	return changed, nil
}

// newest pages back to the first message that is not younger than since. Without a since, one page is enough; it tells that there are more.
func (f *Feed) newest(ctx context.Context, id SessionID, since time.Time, tell func(Update) error) (all stretch, err error) {
	query := ListMessagesParams{Limit: new(perSession)}
	for {
		page, err := ask(ctx, tell, func() (keptList[keptMessage, int64], error) {
			return list[keptMessage, int64](f.api.ListMessages(ctx, id, &query))
		})
		if err != nil {
			return stretch{}, err
		}
		if !all.known {
			all.through, all.known = page.LastChange, true
		}
		young := slices.DeleteFunc(slices.Clone(page.Items), func(m keptMessage) bool { return m.CreatedAt.Before(since) })
		all.messages = append(young, all.messages...)
		switch {
		case page.Next == 0, len(young) < len(page.Items):
			return all, nil
		case since.IsZero():
			return all, tell(Update{Truncated: true, Session: id})
		}
		query.BeforeSeq = &page.Next
	}
}

func (f *Feed) after(ctx context.Context, id SessionID, head SeqID, tell func(Update) error) ([]keptMessage, error) {
	var all []keptMessage
	for {
		page, err := ask(ctx, tell, func() (keptList[keptMessage, int64], error) { return f.sync(ctx, id, head) })
		all = append(all, page.Items...)
		if err != nil || page.Next == 0 {
			return all, err
		}
		head = page.Next
	}
}

func (f *Feed) sync(ctx context.Context, id SessionID, after SeqID) (keptList[keptMessage, int64], error) {
	limit := pageSize
	return list[keptMessage, int64](f.api.SyncMessages(ctx, id, &SyncMessagesParams{AfterSeq: &after, Limit: &limit}))
}

// changed returns the messages of a conversation that have changed since what is known of them, as they are now.
func (f *Feed) changed(ctx context.Context, id SessionID, tell func(Update) error) (all stretch, err error) {
	for after := f.changes[id]; ; {
		page, err := ask(ctx, tell, func() (keptList[keptMessage, int64], error) {
			query := ListMessageChangesParams{AfterChange: &after, Limit: new(pageSize)}
			return list[keptMessage, int64](f.api.ListMessageChanges(ctx, id, &query))
		})
		if err != nil {
			return stretch{}, err
		}
		all.messages = append(all.messages, page.Items...)
		switch {
		case page.LastChange < after:
			after = 0 // it was counted in a record that is no more
		case page.Next == 0:
			all.through, all.known = page.LastChange, true
			return all, nil
		default:
			after = page.Next
		}
	}
}
