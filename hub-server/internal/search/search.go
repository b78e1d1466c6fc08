// Package search finds messages by their words. An index says which messages may have them: it is a projection of the messages, filled behind
// the outbox, and never believed: what is found is held against what the message says now, to whoever may read it now.
package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// MaxPage is the most messages of a page.
const MaxPage = 50

const (
	patience  = 10 * time.Second // for one page
	blockPage = 1000             // a search that looks through much should not do so again for a little more
)

// Place is a block of messages in the order in which they are looked through: by their newest message, the newest first.
type Place struct {
	Newest time.Time
	Block  BlockID
}

// BlockID numbers the blocks of a store.
type BlockID int64

// Lookup asks for the blocks that may have messages with all of the terms.
type Lookup struct {
	User    id.User    // who is a member of their conversations now
	Session id.Session // "" for all conversations
	Terms   []Term
	Until   time.Time // sent then or before; zero: whenever
	After   Place     // behind it in the order; zero: from the beginning
	Limit   int
}

// Found is a block with the messages in it that may have all of the terms.
type Found struct {
	Place
	Session id.Session
	First   chat.Seq // number of the message that the lowest bit is about
	Bits    Bits
}

// Period is when messages were sent, both ends included.
type Period struct{ From, To time.Time }

// Store is the index and the messages, to read. Safe for concurrent use.
type Store interface {
	// Blocks returns up to l.Limit blocks in their order, and whether there may be more behind the last of them.
	Blocks(ctx context.Context, l Lookup) (found []Found, more bool, err error)
	// Stand returns the messages of a block that its bits name, that were sent in the period and not taken back.
	Stand(ctx context.Context, f Found, p Period) ([]chat.Message, error)
	// Dressed adds pins and reactions to messages.
	Dressed(ctx context.Context, messages []chat.Message) error
	// Filled says whether the messages are all in the index that were there before it.
	Filled(ctx context.Context) (bool, error)
}

// Request is one page that somebody wants.
type Request struct {
	User    id.User
	Text    string
	Session id.Session // "" for all conversations
	After   paging.Mark
	Limit   int
}

// Page is what was found, the newest first.
type Page struct {
	Messages []chat.Message
	Next     paging.Mark // zero: there is no more
	Partial  bool        // older messages are still being put into the index
}

// ParseMark reads where a page ended; CursorInvalid if none ends there.
func ParseMark(s string) (paging.Mark, error) {
	return paging.Parse(s, func(item string) bool {
		_, err := id.ParseMessage(item)
		return err == nil
	})
}

// Finder finds messages. Safe for concurrent use.
type Finder struct{ Store Store }

// Find returns a page of the messages that have all words of the text, in conversations that the user is a member of now. InvalidRequest for a
// text that cannot be looked for, Busy if it takes too long.
func (f Finder) Find(ctx context.Context, r Request) (Page, error) {
	q, err := Parse(r.Text)
	if err != nil {
		return Page{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	page, err := f.find(bounded, r, q)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return Page{}, fault.New(fault.Busy, "The search took more than %s. Look in one conversation, or for rarer words.", patience)
	}
	return page, err
}

func (f Finder) find(ctx context.Context, r Request, q Query) (Page, error) {
	filled, err := f.Store.Filled(ctx) // before: what was not filled then may be missing below
	if err != nil {
		return Page{}, fmt.Errorf("look at the index: %w", err)
	}
	best := newest{limit: r.Limit + 1, before: r.After}
	look := Lookup{User: r.User, Session: r.Session, Terms: q.terms(), Until: r.After.At, Limit: blockPage}
	for more := true; more; {
		var blocks []Found
		if blocks, more, err = f.Store.Blocks(ctx, look); err != nil {
			return Page{}, fmt.Errorf("look into the index: %w", err)
		}
		for _, b := range blocks {
			if best.complete(b.Newest) {
				more = false
				break
			}
			found, err := f.Store.Stand(ctx, b, best.wanted())
			if err != nil {
				return Page{}, fmt.Errorf("read what was found: %w", err)
			}
			best.add(slices.DeleteFunc(found, func(m chat.Message) bool { return !q.in(m.Said()) }))
			look.After = b.Place
		}
	}
	page := Page{Messages: best.messages, Partial: !filled}
	if len(page.Messages) > r.Limit {
		page.Messages = page.Messages[:r.Limit]
		page.Next = markOf(page.Messages[r.Limit-1])
	}
	if err := f.Store.Dressed(ctx, page.Messages); err != nil {
		return Page{}, fmt.Errorf("read reactions: %w", err)
	}
	return page, nil
}

func markOf(m chat.Message) paging.Mark { return paging.Mark{At: m.CreatedAt, ID: string(m.ID)} }

// newest keeps the newest messages of those it is given, the newest first.
type newest struct {
	limit    int
	before   paging.Mark // messages behind it; zero: all
	messages []chat.Message
}

// complete says whether nothing that was sent at a time or before is among the newest.
func (n *newest) complete(at time.Time) bool {
	return len(n.messages) == n.limit && n.messages[n.limit-1].CreatedAt.After(at)
}

// wanted is the period outside of which nothing is among the newest.
func (n *newest) wanted() (p Period) {
	p.To = n.before.At
	if len(n.messages) == n.limit {
		p.From = n.messages[n.limit-1].CreatedAt
	}
	return p
}

func (n *newest) add(messages []chat.Message) {
	for _, m := range messages {
		if n.before == (paging.Mark{}) || markOf(m).Compare(n.before) < 0 {
			n.messages = append(n.messages, m)
		}
	}
	slices.SortFunc(n.messages, func(a, b chat.Message) int { return markOf(b).Compare(markOf(a)) })
	n.messages = n.messages[:min(len(n.messages), n.limit)]
}
