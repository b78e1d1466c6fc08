package sqlstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// age makes a row so old.
func age(t *testing.T, w *Writer, pos delivery.Position, d time.Duration) {
	t.Helper()
	do(t, w, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE outbox SET created_at = $2 WHERE pos = $1`, int64(pos), micros(time.Now().Add(-d)))
		return err
	})
}

func TestTheOutboxIsTrimmedFromItsBeginningUpToTheFirstYoungRow(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		me := id.NewUser()
		for range 6 {
			put(t, w, delivery.Row{Audience: delivery.ToUser(me)})
		}
		for _, old := range []delivery.Position{1, 2, 3, 5} { // 4 was written by a hub whose clock is ahead
			age(t, w, old, 2*time.Hour)
		}
		trim := func(limit, want int, floor delivery.Position) {
			t.Helper()
			removed, _, err := NewOutboxTrim(w).Trim(t.Context(), time.Now().Add(-time.Hour), limit)
			bounds, boundsErr := s.Bounds(t.Context())
			if err := errors.Join(err, boundsErr); err != nil || removed != want || bounds.Floor != floor || bounds.Head != 6 {
				t.Fatalf("removed %d of at most %d rows, bounds %+v, %v", removed, limit, bounds, err)
			}
		}
		trim(2, 2, 2)
		trim(2, 1, 3)
		trim(2, 0, 3)
		if got := rowsFor(t, s, me, 3, 6, 10); !slices.Equal(got, []delivery.Position{4, 5, 6}) {
			t.Errorf("rows %v are left", got)
		}
		if _, err := s.RowsFor(t.Context(), me, 2, 6, 10); !errors.Is(err, delivery.ErrTrimmed) {
			t.Errorf("from below the floor: %v, want ErrTrimmed", err)
		}
		for pos := range delivery.Position(6) {
			age(t, w, pos+1, 2*time.Hour)
		}
		trim(10, 3, 6)
		trim(10, 0, 6)
		put(t, w, delivery.Row{Audience: delivery.ToUser(me)})
		if got := rowsFor(t, s, me, 6, 7, 10); !slices.Equal(got, []delivery.Position{7}) {
			t.Errorf("after everything was trimmed the next row is %v", got)
		}
	})
}

func TestWhatWasReadLongAgoLeavesAndWhatIsUnreadStays(t *testing.T) {
	eachTown(t, func(w *town) {
		writer, notices := w.accounts.writer, NewNotices(w.store, w.accounts.writer)
		people := &contact.Contacts{Store: NewContacts(w.store, writer), Presence: nobody{}, Changed: func(_, _ id.User) {}}
		ada := w.person("ada")
		for _, name := range []string{"bob", "carol", "dave"} {
			_, err := people.Ask(w.t.Context(), account.Principal{User: w.person(name).ID}, "ada", "")
			w.must(err)
		}
		told := func() []notice.Notice {
			all, err := notices.Notices(w.t.Context(), notice.Query{User: ada.ID, Limit: 10})
			w.must(err)
			return all
		}
		for _, n := range told()[:2] {
			_, err := notices.Read(w.t.Context(), ada.ID, n.ID)
			w.must(err)
		}
		for _, trim := range []struct {
			before        time.Time
			removed, left int
		}{{time.Now().Add(-time.Hour), 0, 3}, {time.Now().Add(time.Hour), 1, 2}, {time.Now().Add(time.Hour), 1, 1}, {time.Now().Add(time.Hour), 0, 1}} {
			removed, _, err := NewNoticeTrim(writer).Trim(w.t.Context(), trim.before, 1)
			if w.must(err); removed != trim.removed || len(told()) != trim.left {
				w.t.Errorf("removed %d, %d are left, want %d and %d", removed, len(told()), trim.removed, trim.left)
			}
		}
		if left := told(); left[0].Read {
			w.t.Error("what is left was read")
		}
	})
}
