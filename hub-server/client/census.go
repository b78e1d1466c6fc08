package client

import (
	"context"
	"slices"
)

const maxSessions = 4000 // in a snapshot

// census collects the conversations of a list that is ordered by what happened last: one in which something happens while the list is read
// moves to its front, perhaps past the page that comes next.
type census struct {
	all []keptSession
	at  map[SessionID]int // in all
}

// add takes a page, the newest state of each, and says how many of it were not known.
func (c *census) add(page []keptSession) (news int) {
	for _, s := range page {
		if i, known := c.at[s.ID]; known {
			c.all[i] = s
			continue
		}
		c.at[s.ID] = len(c.all)
		c.all = append(c.all, s)
		news++
	}
	return news
}

func (c *census) full() bool { return len(c.all) >= maxSessions }

// sessions lists the conversations that this feed is about; all says that the user has no others. The list is read from its front until there is
// nothing new.
func (f *Feed) sessions(ctx context.Context, tell func(Update) error) (found []keptSession, all bool, err error) {
	c := &census{at: map[SessionID]int{}}
	for again := false; ; again = true {
		moved, err := f.count(ctx, c, again, tell)
		if err != nil {
			return nil, false, err
		}
		if !moved || c.full() {
			break
		}
	}
	one := f.options.Session
	return slices.DeleteFunc(c.all, func(s keptSession) bool { return one != "" && one != s.ID }), !c.full(), nil
}

// count reads the list once, again only as far as it has news. It says whether some may have moved while it was read; of one page none has.
func (f *Feed) count(ctx context.Context, c *census, again bool, tell func(Update) error) (moved bool, err error) {
	query := ListSessionsParams{Limit: new(listSize)}
	for {
		page, err := insist(ctx, tell, func() (keptList[keptSession, string], error) {
			return list[keptSession, string](f.api.ListSessions(ctx, &query))
		})
		if err != nil {
			return false, err
		}
		news := c.add(page.Items)
		if page.Next == "" || c.full() || again && news == 0 {
			return moved, nil
		}
		moved = true
		query.After = &page.Next
	}
}
