package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/paging"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// desk is a town whose messages are searched.
type desk struct {
	*town
	search  *Search
	indexer *search.Indexer
}

func eachDesk(t *testing.T, contract func(d *desk)) {
	t.Helper()
	eachTown(t, func(w *town) {
		s := NewSearch(w.store, w.chat.writer)
		contract(&desk{w, s, &search.Indexer{Index: s, Log: slog.New(slog.DiscardHandler)}})
	})
}

func (d *desk) say(s chat.Session, by account.User, text string) chat.Message {
	d.t.Helper()
	p := d.posting(s.ID, by.ID)
	p.Message.Content = fmt.Appendf(nil, `{"text":%q}`, text)
	m, _, err := d.chat.Post(d.ctx(), p)
	d.must(err)
	return m
}

func (d *desk) catchUp() {
	d.t.Helper()
	d.must(d.indexer.CatchUp(d.ctx()))
}

// finds searches page by page and returns all that was found.
func (d *desk) finds(by account.User, text string, in id.Session, limit int) (found []id.Message) {
	d.t.Helper()
	for after := (paging.Mark{}); ; {
		page, err := search.Finder{Store: d.search}.Find(d.ctx(), search.Request{User: by.ID, Text: text, Session: in, After: after, Limit: limit})
		d.must(err)
		if len(page.Messages) > limit {
			d.t.Fatalf("a page of %d", len(page.Messages))
		}
		for _, m := range page.Messages {
			found = append(found, m.ID)
		}
		if after = page.Next; after == (paging.Mark{}) {
			return found
		}
	}
}

func (d *desk) wantFound(by account.User, text string, want ...chat.Message) {
	d.t.Helper()
	var ids []id.Message
	for _, m := range want {
		ids = append(ids, m.ID)
	}
	if got := d.finds(by, text, "", 2); !slices.Equal(got, ids) {
		d.t.Errorf("%q finds %v for %s, want %v", text, got, by.Name, ids)
	}
}

// tick lets messages be told apart by their time.
func (d *desk) tick() { d.now = d.now.Add(time.Second) }

func TestMessagesAreFoundByTheirMembersAlone(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada, bob, carl := d.person("ada"), d.person("bob"), d.person("carl")
		group, own := d.group(ada, userOf(bob)), d.group(carl)
		d.catchUp()
		first := d.say(group, ada, "the migration of 数据库 failed")
		d.tick()
		second := d.say(group, bob, "Migration: failed again")
		d.tick()
		other := d.say(own, carl, "a migration of birds")
		d.catchUp()
		d.wantFound(ada, "failed MIGRATION", second, first)
		d.wantFound(bob, "migration", second, first)
		d.wantFound(carl, "migration", other)
		d.wantFound(bob, "库", first)
		d.wantFound(bob, "数据 failed", first)
		d.wantFound(bob, "birds")
		d.wantFound(bob, "nothing of that kind")
		if got := d.finds(carl, "migration", group.ID, 5); len(got) != 0 {
			d.t.Errorf("carl finds %v in a conversation of others", got)
		}
		d.must(d.join(own.ID, carl, bob))
		d.wantFound(bob, "migration", other, second, first)
		if got := d.finds(bob, "migration", own.ID, 5); !slices.Equal(got, []id.Message{other.ID}) {
			d.t.Errorf("in one conversation bob finds %v", got)
		}
		d.leave(group.ID, userOf(bob))
		d.wantFound(bob, "migration", other)
		d.wantFound(ada, "migration", second, first)
	})
}

func TestWhatWasTakenBackOrEditedAwayIsNotFound(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada := d.person("ada")
		s := d.group(ada)
		secret, draft := d.say(s, ada, "a secret word"), d.say(s, ada, "a draft word")
		d.catchUp()
		d.must(d.recall(secret, ada))
		d.must(d.edit(draft, ada, `{"text":"the final 字"}`, wire.Attachment{Kind: "file", URL: "https://x.example/", Filename: "Plan-B.pdf"}))
		d.wantFound(ada, "secret") // before the index knows
		d.wantFound(ada, "draft")
		d.catchUp()
		for _, gone := range []string{"secret", "draft", "word"} {
			d.wantFound(ada, gone)
			if n := d.rows(fmt.Sprintf(`SELECT COUNT(*) FROM search_postings WHERE term = %d`, search.TermsOf(gone)[0])); n != 0 {
				d.t.Errorf("%q has %d postings", gone, n)
			}
		}
		d.wantFound(ada, "final 字", draft)
		d.wantFound(ada, "plan b pdf", draft)
	})
}

// Neither small pages nor clocks that disagree with the order of the messages lose or repeat anything, whatever a search begins with.
func TestPagesHoldEverythingOnceNewestFirst(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada := d.person("ada")
		sessions := []chat.Session{d.group(ada), d.group(ada), d.group(ada)}
		at := d.now
		var all []chat.Message
		for i := range 3 * search.BlockSize {
			d.now = at.Add(time.Duration(i*7919%101-50) * time.Second)
			all = append(all, d.say(sessions[i%3*(i%2)], ada, fmt.Sprintf("word %d", i)))
		}
		d.catchUp()
		slices.SortFunc(all, func(a, b chat.Message) int {
			return paging.Mark{At: b.CreatedAt, ID: string(b.ID)}.Compare(paging.Mark{At: a.CreatedAt, ID: string(a.ID)})
		})
		var want []id.Message
		for _, m := range all {
			want = append(want, m.ID)
		}
		usual := d.search.reach
		for _, r := range []reach{usual, {few: 0, window: 1, enough: 1}, {few: 0, window: 2, enough: 5}, {few: 0, many: 1000}} {
			d.search.reach = r
			for _, limit := range []int{1, 7, 50} {
				if got := d.finds(ada, "word", "", limit); !slices.Equal(got, want) {
					d.t.Fatalf("in pages of %d, with the reach %+v: %d found of %d, or in another order", limit, r, len(got), len(want))
				}
			}
		}
		blocks := func(o order) []search.Found {
			found, err := d.search.blocks(d.ctx(), search.Lookup{User: ada.ID, Terms: search.TermsOf("word"), Limit: 100}, o, search.Place{})
			d.must(err)
			return found
		}
		if a, b, c := blocks(byTerm), blocks(byMember), blocks(byTime); len(a) < 3 || !slices.Equal(a, b) || !slices.Equal(b, c) {
			d.t.Errorf("blocks by term %v, by member %v, by time %v", a, b, c)
		}
	})
}

func TestMessagesFromBeforeTheIndexAreFound(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada := d.person("ada")
		s, other := d.group(ada), d.group(ada)
		early, late := d.say(s, ada, "an old word"), d.say(other, ada, "another old thing")
		gone := d.say(s, ada, "an old secret")
		d.must(d.recall(gone, ada))
		page, err := search.Finder{Store: d.search}.Find(d.ctx(), search.Request{User: ada.ID, Text: "old", Limit: 5})
		d.must(err)
		if !page.Partial {
			d.t.Error("an index that was never filled says that it is whole")
		}
		do(d.t, d.chat.writer, nil, func(ctx context.Context, tx *Tx) error { // they are older than what the outbox keeps
			_, err := tx.Exec(ctx, `DELETE FROM outbox`)
			return err
		})
		d.catchUp()
		page, err = search.Finder{Store: d.search}.Find(d.ctx(), search.Request{User: ada.ID, Text: "old", Limit: 5})
		d.must(err)
		if page.Partial || len(page.Messages) != 2 || len(d.finds(ada, "secret", "", 5)) != 0 {
			d.t.Errorf("found %+v", page)
		}
		if got := d.finds(ada, "old", "", 5); !slices.Contains(got, early.ID) || !slices.Contains(got, late.ID) {
			d.t.Errorf("found %v", got)
		}
		// A hub that knows nothing of the index has trimmed what it had not read.
		lost := d.say(s, ada, "a lost word")
		do(d.t, d.chat.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM outbox`)
			return err
		})
		d.catchUp()
		d.wantFound(ada, "lost", lost)
	})
}

func TestNothingIsTrimmedBeforeTheIndexHasReadIt(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada := d.person("ada")
		s := d.group(ada)
		d.catchUp()
		place, err := d.search.Progress(d.ctx())
		d.must(err)
		m := d.say(s, ada, "a word")
		trim := func(floor uint64) {
			d.t.Helper()
			_, _, err := NewOutboxTrim(d.chat.writer).Trim(d.ctx(), time.Now().Add(time.Hour), 1000)
			d.must(err)
			if bounds, err := d.store.Bounds(d.ctx()); err != nil || uint64(bounds.Floor) != floor {
				d.t.Errorf("bounds %+v, %v, want the floor %d", bounds, err, floor)
			}
		}
		trim(uint64(place.Place))
		d.catchUp()
		d.wantFound(ada, "word", m)
		trim(uint64(place.Place) + 1)
	})
}

func TestOfTwoHubsOneMovesTheIndex(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada := d.person("ada")
		s := d.group(ada)
		d.catchUp()
		d.say(s, ada, "one two three")
		from, err := d.search.Progress(d.ctx())
		d.must(err)
		c, err := d.search.Changed(d.ctx(), from.Place, 10)
		d.must(err)
		to := from
		to.Place = c.UpTo
		errs := together(4, func(int) error {
			_, err := d.search.Enter(d.ctx(), from, to, []search.Entry{search.EntryOf(c.Messages[0])})
			return err
		})
		won := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err != nil })
		lost := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return !errors.Is(err, search.ErrTaken) })
		if len(won) != 1 || len(lost) != 3 {
			d.t.Errorf("errors %v", errs)
		}
		if blocks, postings := d.rows(`SELECT COUNT(*) FROM search_blocks`), d.rows(`SELECT COUNT(*) FROM search_postings`); blocks != 1 || postings != 3 {
			d.t.Errorf("%d blocks, %d postings", blocks, postings)
		}
	})
}

// A text of very many words is entered in several transactions.
func TestEveryWordOfALongTextIsFound(t *testing.T) {
	eachDesk(t, func(d *desk) {
		ada := d.person("ada")
		s := d.group(ada)
		var text []byte
		for i := range 2500 {
			text = fmt.Appendf(text, "w%d ", i)
		}
		m := d.say(s, ada, string(text))
		d.must(d.edit(m, ada, fmt.Sprintf(`{"text":%q}`, text[:len(text)-6])))
		d.catchUp()
		for _, word := range []string{"w0", "w999", "w1000 w2001", "w2498"} {
			d.wantFound(ada, word, m)
		}
		d.wantFound(ada, "w2499")
		d.must(d.recall(m, ada))
		d.catchUp()
		if n := d.rows(`SELECT COUNT(*) FROM search_postings`); n != 0 {
			d.t.Errorf("%d postings are left", n)
		}
	})
}

func TestAQueryThatCannotBeLookedForIsRefused(t *testing.T) {
	eachDesk(t, func(d *desk) {
		_, err := search.Finder{Store: d.search}.Find(d.ctx(), search.Request{User: d.person("ada").ID, Text: "?", Limit: 5})
		d.wants(fault.InvalidRequest, err)
	})
}
