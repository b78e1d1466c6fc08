package notice

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// MaxPage bounds a page of the list.
const MaxPage = 200

// readAtOnce bounds how many notices one transaction marks as read.
const readAtOnce = 200

// Query selects what a person is told, the newest first.
type Query struct {
	User   id.User
	Unread bool        // only what is unread: of questions, those that wait for an answer
	After  paging.Mark // the end of the page before; zero for the first page
	Limit  int
}

// Store keeps notices. Safe for concurrent use; a write returns after it is on disk and has told all devices of the person.
type Store interface {
	// Notices returns a page of notices.
	Notices(ctx context.Context, q Query) ([]Notice, error)
	// Questions returns a page of the questions that the user may answer now.
	Questions(ctx context.Context, q Query) ([]prompt.Prompt, error)
	// Unread counts what Query.Unread selects.
	Unread(ctx context.Context, user id.User) (int, error)
	// Read marks a notice of the user as read and returns it; NotFound when they have none of that id. Reading twice is fine.
	Read(ctx context.Context, user id.User, notice id.Notification) (Notice, error)
	// ReadAll marks up to limit unread notices as read that are not younger than upTo, and says how many it were.
	ReadAll(ctx context.Context, user id.User, upTo time.Time, limit int) (int, error)
	// MayAnswer says whether there is such a question, and the user may answer it now.
	MayAnswer(ctx context.Context, user id.User, request id.Request) (bool, error)
}

// Notices lists what people are told. Safe for concurrent use.
type Notices struct {
	Store Store
	Now   account.Clock
}

// Page is a part of the list.
type Page struct {
	Items  []Item
	Next   paging.Mark // zero on the last page
	Unread int         // in the whole list
}

// List returns a page of notices and questions together, the newest first.
func (n *Notices) List(ctx context.Context, q Query) (Page, error) {
	if q.Limit <= 0 || q.Limit > MaxPage {
		q.Limit = MaxPage
	}
	limit := q.Limit
	q.Limit++
	notices, err := n.Store.Notices(ctx, q)
	if err != nil {
		return Page{}, err
	}
	questions, err := n.Store.Questions(ctx, q)
	if err != nil {
		return Page{}, err
	}
	unread, err := n.Store.Unread(ctx, q.User)
	if err != nil {
		return Page{}, err
	}
	page := Page{Items: merge(notices, questions), Unread: unread}
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		page.Next = page.Items[limit-1].Mark()
	}
	return page, nil
}

// merge puts two lists together, each the newest first.
func merge(notices []Notice, questions []prompt.Prompt) []Item {
	items := make([]Item, 0, len(notices)+len(questions))
	for _, n := range notices {
		items = append(items, Item{Notice: n})
	}
	for _, q := range questions {
		items = append(items, Item{Question: &q})
	}
	slices.SortStableFunc(items, func(a, b Item) int { return b.Mark().Compare(a.Mark()) })
	return items
}

// Read marks one item as read. A question is read when it is answered: Conflict.
func (n *Notices) Read(ctx context.Context, user id.User, item string) (Notice, error) {
	if request, err := id.ParseRequest(item); err == nil {
		return Notice{}, n.unanswered(ctx, user, request)
	}
	notice, err := id.ParseNotification(item)
	if err != nil {
		return Notice{}, notThere()
	}
	return n.Store.Read(ctx, user, notice)
}

// unanswered tells whoever may answer a question to do that, and nobody else that it is there.
func (n *Notices) unanswered(ctx context.Context, user id.User, request id.Request) error {
	may, err := n.Store.MayAnswer(ctx, user, request)
	switch {
	case err != nil:
		return err
	case !may:
		return notThere()
	}
	return fault.New(fault.Conflict, "A question counts as read when it is answered. Answer it.")
}

// ReadAll marks every notice as read that is not younger than upTo; zero means now. Questions stay until they are answered.
func (n *Notices) ReadAll(ctx context.Context, user id.User, upTo time.Time) error {
	if now := n.Now.Moment(); upTo.IsZero() || upTo.After(now) {
		upTo = now
	}
	for {
		read, err := n.Store.ReadAll(ctx, user, upTo, readAtOnce)
		if err != nil {
			return fmt.Errorf("mark as read: %w", err)
		}
		if read < readAtOnce {
			return nil
		}
	}
}
