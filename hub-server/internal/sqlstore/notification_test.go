package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func eachNotices(t *testing.T, contract func(t *testing.T, n *Notices)) {
	t.Helper()
	t.Parallel()
	eachStore(t, func(t *testing.T, s *Store, w *Writer) { contract(t, NewNotices(s, w)) })
}

// told returns the payloads of notification.new that a user was sent.
func (n *Notices) told(t *testing.T, user id.User) (payloads []string) {
	t.Helper()
	rows, err := n.store.Rows(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.FrameType == frameNotification && row.Audience == delivery.ToUser(user) {
			payloads = append(payloads, string(row.Payload))
		}
	}
	return payloads
}

// tell notifies a user of numbered things, one transaction each.
func (n *Notices) tell(t *testing.T, user id.User, subjects ...int) {
	t.Helper()
	for _, subject := range subjects {
		one := notice.Notice{ID: id.NewNotification(), User: user, Type: notice.System, Subject: fmt.Sprint(subject), Payload: fmt.Appendf(nil, `{"n":%d}`, subject)}
		do(t, n.writer, nil, func(ctx context.Context, tx *Tx) error { return tx.notify(ctx, one) })
	}
}

func (n *Notices) list(t *testing.T, q notice.Query) []string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	found, err := n.Notices(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, one := range found {
		subjects = append(subjects, one.Subject)
	}
	return subjects
}

func TestOfOneThingAPersonIsToldOnceAndTheListHasTheNewestFirst(t *testing.T) {
	eachNotices(t, func(t *testing.T, n *Notices) {
		ada, bob := id.NewUser(), id.NewUser()
		n.tell(t, ada, 1, 2, 2, 3, 1)
		n.tell(t, bob, 1)
		if got := n.list(t, notice.Query{User: ada}); !slices.Equal(got, []string{"3", "2", "1"}) {
			t.Errorf("list %q", got)
		}
		if got := len(n.told(t, ada)); got != 3 {
			t.Errorf("%d frames, want 3", got)
		}
		page, err := (&notice.Notices{Store: n}).List(t.Context(), notice.Query{User: ada, Limit: 2})
		if err != nil || len(page.Items) != 2 || page.Unread != 3 {
			t.Fatalf("page %+v, %v", page, err)
		}
		if got := n.list(t, notice.Query{User: ada, After: page.Next}); !slices.Equal(got, []string{"1"}) {
			t.Errorf("next page %q", got)
		}
	})
}

func TestWhatIsReadIsToldOnceMoreAndOnlyToItsOwner(t *testing.T) {
	eachNotices(t, func(t *testing.T, n *Notices) {
		ada, bob := id.NewUser(), id.NewUser()
		n.tell(t, ada, 1)
		found, err := n.Notices(t.Context(), notice.Query{User: ada, Limit: 1})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if _, err := n.Read(t.Context(), bob, found[0].ID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another's: %v", err)
		}
		for range 2 {
			if read, err := n.Read(t.Context(), ada, found[0].ID); err != nil || !read.Read {
				t.Errorf("read %+v, %v", read, err)
			}
		}
		read := found[0]
		read.Read = true
		if got, want := n.told(t, ada), []string{string(notice.Frame(found[0])), string(notice.Frame(read))}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if got := n.list(t, notice.Query{User: ada, Unread: true}); len(got) != 0 {
			t.Errorf("still unread: %q", got)
		}
	})
}

func TestReadAllStopsAtTheTimeThatItIsGiven(t *testing.T) {
	eachNotices(t, func(t *testing.T, n *Notices) {
		ada, bob := id.NewUser(), id.NewUser()
		n.tell(t, ada, 1, 2, 3)
		n.tell(t, bob, 1)
		found, err := n.Notices(t.Context(), notice.Query{User: ada, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		all := &notice.Notices{Store: n, Now: time.Now}
		if err := all.ReadAll(t.Context(), ada, found[1].CreatedAt); err != nil {
			t.Fatal(err)
		}
		if got := n.list(t, notice.Query{User: ada, Unread: true}); !slices.Equal(got, []string{"3"}) {
			t.Errorf("unread %q", got)
		}
		if err := all.ReadAll(t.Context(), ada, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if mine, theirs := len(n.told(t, ada)), len(n.told(t, bob)); mine != 6 || theirs != 1 {
			t.Errorf("%d and %d frames, want 6 and 1", mine, theirs)
		}
		for user, want := range map[id.User]int{ada: 0, bob: 1} {
			if got, err := n.Unread(t.Context(), user); got != want || err != nil {
				t.Errorf("%d unread, %v, want %d", got, err, want)
			}
		}
	})
}

func TestWhoHasMutedAConversationOrLeftItIsToldNothingOfIt(t *testing.T) {
	eachNotices(t, func(t *testing.T, n *Notices) {
		session := id.NewSession()
		listens, muted, left, stranger := id.NewUser(), id.NewUser(), id.NewUser(), id.NewUser()
		do(t, n.writer, nil, func(ctx context.Context, tx *Tx) error {
			const put = `INSERT INTO session_members (session_id, member_id, role, last_read_seq, joined_at, left_at, muted) VALUES ($1, $2, 'member', 0, 0, $3, $4)`
			for user, gone := range map[id.User]any{listens: nil, muted: nil, left: int64(1)} {
				if _, err := tx.Exec(ctx, put, string(session), string(user), gone, user == muted); err != nil {
					return err
				}
			}
			return nil
		})
		for user, want := range map[id.User]int{listens: 1, muted: 0, left: 0, stranger: 0} {
			one, err := notice.Mentioned(user, session, id.NewMessage(), stranger)
			if err != nil {
				t.Fatal(err)
			}
			do(t, n.writer, nil, func(ctx context.Context, tx *Tx) error { return tx.notify(ctx, one) })
			if got := len(n.told(t, user)); got != want {
				t.Errorf("%d frames, want %d", got, want)
			}
		}
	})
}
