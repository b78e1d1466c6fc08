package sqlstore

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// watched is a store of which is counted what is asked, and that says of some checkpoints that words have changed meanwhile.
type watched struct {
	omnilog.Store
	begins atomic.Int32
	refuse atomic.Int32
}

func (w *watched) Checkpoint(ctx context.Context, session id.Session, upTo int64, rules int) (omnilog.Begin, error) {
	w.begins.Add(1)
	return w.Store.Checkpoint(ctx, session, upTo, rules)
}

func (w *watched) Save(ctx context.Context, cp omnilog.Checkpoint, changes int64) error {
	if w.refuse.Add(-1) >= 0 {
		return omnilog.ErrMoved
	}
	return w.Store.Save(ctx, cp, changes)
}

func (w *town) watch(every int) (*watched, *omnilog.Logs) {
	store := &watched{Store: NewOmni(w.store, w.chat.writer)}
	return store, omnilog.New(omnilog.Config{
		Store: store, Log: slog.New(slog.DiscardHandler), Metrics: omnilog.NewMetrics(telemetry.NewRegistry("hub")), Every: every,
		Page: omnilog.Page{Facts: 1, Bytes: 1},
	})
}

// checkpoints are the places of those that are stored.
func (s *Store) checkpoints(tb testing.TB, session id.Session) []int64 {
	tb.Helper()
	rows, err := s.readDB.QueryContext(tb.Context(), `SELECT place FROM omni_checkpoints WHERE session_id = $1 ORDER BY place`, string(session))
	places, err := collect(rows, err, func(row Scanner) (place int64, err error) {
		err = row.Scan(&place)
		return place, err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return places
}

// A message is taken back, edited, and reacted to: the checkpoints go that depend on its words, and no others, and nobody folds again what is the same.
func TestOnlyTheCheckpointsGoThatDependOnTheWordsOfAMessage(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		store, hub := w.watch(2)
		var said []chat.Message
		for range 80 { // at the 65th the conversation begins without an agent
			said = append(said, w.post(s.ID, ada.ID))
		}
		reader, _, err := hub.Follow(t.Context(), s.ID, 0)
		w.must(err)
		defer reader.Close()
		if got := len(w.store.checkpoints(t, s.ID)); got != 40 {
			t.Fatalf("%d checkpoints", got)
		}
		before, begun := w.store.checkpoints(t, s.ID), store.begins.Load()
		w.must(w.recall(said[70], ada))
		w.must(w.edit(said[75], ada, `{"text":"else"}`))
		w.must(w.chat.React(w.ctx(), w.reacting(said[1], ada, "👍")))
		if got := w.store.checkpoints(t, s.ID); !slices.Equal(got, before) {
			t.Errorf("checkpoints are of %v, were of %v", got, before)
		}
		w.seen(hub)
		w.same("what was told is changed", hub, s.ID)
		w.must(w.recall(said[2], ada))
		if got := w.store.checkpoints(t, s.ID); !slices.Equal(got, []int64{2}) {
			t.Errorf("checkpoints are of %v, want 2 alone", got)
		}
		w.seen(hub)
		w.same("what waited is taken back", hub, s.ID)
		if begun == store.begins.Load() {
			t.Error("nothing was folded again")
		}
	})
}

// A fold that depends on no words goes on when some are changed.
func TestAChangeOfWhatWasToldHasNobodyFoldAgain(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		k := newTalk(t, r)
		k.goOn(t, 10, chanceOf(t).part(0))
		w := &town{t: t, store: r.store, chat: NewChat(r.store, r.writer)}
		store, hub := w.watch(1 << 30)
		view, err := hub.View(t.Context(), k.session)
		w.must(err)
		begun := store.begins.Load()
		hub.Seen([]delivery.Row{{Kind: delivery.KindMessage, Session: k.session, From: 1}})
		k.goOn(t, 3, chanceOf(t).part(1))
		hub.Seen([]delivery.Row{{Kind: delivery.KindMessage, Session: k.session, From: 1}})
		now, err := hub.View(t.Context(), k.session)
		w.must(err)
		if got := store.begins.Load(); got != begun || now.Place <= view.Place {
			t.Errorf("%d checkpoints were read, at place %d and then %d", got-begun, view.Place, now.Place)
		}
	})
}

// A checkpoint that has to be there is made until it is, and one is kept although somebody reacts meanwhile.
func TestACheckpointIsKeptThoughMessagesChangeMeanwhile(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		s := w.group(ada)
		store, hub := w.watch(1 << 30)
		for range 5 {
			w.post(s.ID, ada.ID)
		}
		store.refuse.Store(3)
		w.must(hub.Keep(t.Context(), s.ID, 4))
		if got := w.store.checkpoints(t, s.ID); !slices.Equal(got, []int64{4}) {
			t.Errorf("checkpoints are of %v", got)
		}
		begin := w.checkpointAt(s.ID, 4)
		last := w.post(s.ID, ada.ID)
		w.must(w.chat.React(w.ctx(), w.reacting(last, ada, "👍")))
		at := begin.Checkpoint
		at.Place = 5
		w.must(NewOmni(w.store, w.chat.writer).Save(t.Context(), at, begin.Changes))
		w.must(w.edit(last, ada, `{"text":"else"}`))
		at.Place, at.LooseTo = 6, 6
		if err := NewOmni(w.store, w.chat.writer).Save(t.Context(), at, begin.Changes); !errors.Is(err, omnilog.ErrMoved) {
			t.Errorf("what depends on words that have changed: %v", err)
		}
	})
}

// Of a conversation that goes on for long the checkpoints at its end are all kept, and of those before some, none too far from the next.
func TestCheckpointsAreSparseFarFromTheEnd(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		session, o := r.conversation(t), NewOmni(r.store, r.writer)
		for i := range int64(200) {
			if err := o.Save(t.Context(), omnilog.Checkpoint{Session: session, Place: 2000 * (i + 1), Rules: omnilog.Rules, State: []byte(`{}`)}, 0); err != nil {
				t.Fatal(err)
			}
		}
		places := r.store.checkpoints(t, session)
		if len(places) > 64+200/3 {
			t.Errorf("%d are kept", len(places))
		}
		for i, place := range places {
			before := int64(0)
			if i > 0 {
				before = places[i-1]
			}
			if gap := place - before; gap > 8000 || i > len(places)-64 && gap != 2000 {
				t.Errorf("%d is the next behind %d", place, before)
			}
		}
		for _, place := range []int64{1, 2000, 9999, 100_000, 399_999, 1 << 40} {
			i := slices.IndexFunc(places, func(p int64) bool { return p > place })
			if i < 0 {
				i = len(places)
			}
			want := int64(0)
			if i > 0 {
				want = places[i-1]
			}
			if begin, err := o.Checkpoint(t.Context(), session, place, omnilog.Rules); err != nil || begin.Place != want {
				t.Errorf("before %d is %d, want %d, %v", place, begin.Place, want, err)
			}
		}
	})
}

func (w *town) seen(hub *omnilog.Logs) {
	w.t.Helper()
	rows, err := w.store.Rows(w.t.Context(), 0, 1<<20)
	w.must(err)
	hub.Seen(rows)
}

// same wants a hub to tell what one does that has read nothing before, and finds no checkpoint.
func (w *town) same(what string, hub *omnilog.Logs, session id.Session) {
	w.t.Helper()
	blind := omnilog.New(omnilog.Config{
		Store: blind{NewOmni(w.store, w.chat.writer)}, Log: slog.New(slog.DiscardHandler), Metrics: omnilog.NewMetrics(telemetry.NewRegistry("hub")), Every: 1 << 30,
	})
	sameLines(w.t, what, told(w.t, hub, session, 0, 1<<20), told(w.t, blind, session, 0, 1<<20))
}

// blind finds no checkpoint.
type blind struct{ omnilog.Store }

func (b blind) Checkpoint(ctx context.Context, session id.Session, _ int64, _ int) (omnilog.Begin, error) {
	begin, err := b.Store.Checkpoint(ctx, session, 0, -1)
	begin.Checkpoint = omnilog.Checkpoint{Session: session}
	return begin, err
}
