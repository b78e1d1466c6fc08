package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// put commits one row per transaction, so that the n-th call has position n.
func put(t *testing.T, w *Writer, row delivery.Row) {
	t.Helper()
	row.Kind, row.FrameType = delivery.KindFrame, "message.new"
	if row.Payload == nil {
		row.Payload = []byte(`{}`)
	}
	do(t, w, nil, func(_ context.Context, tx *Tx) error {
		tx.Emit(row)
		return nil
	})
}

func change(s id.Session, u id.User, c delivery.Change) delivery.Row {
	return delivery.Row{Audience: delivery.ToSession(s), Session: s, Change: c, ChangeUser: u}
}

func positions(rows []delivery.Row) []delivery.Position {
	var at []delivery.Position
	for _, r := range rows {
		at = append(at, r.Position)
	}
	return at
}

func rowsFor(t *testing.T, s *Store, u id.User, after, upTo delivery.Position, limit int) []delivery.Position {
	t.Helper()
	rows, err := s.RowsFor(t.Context(), u, after, upTo, limit)
	if err != nil {
		t.Fatal(err)
	}
	return positions(rows)
}

func TestARowIsTheirsInsideAnIntervalOfAConversationTheyBelongToNow(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		me, other, stays, gone := id.NewUser(), id.NewUser(), id.NewSession(), id.NewSession()
		to := func(a delivery.Audience) delivery.Row { return delivery.Row{Audience: a} }
		for _, row := range []delivery.Row{
			to(delivery.ToSession(stays)),        // 1: before they joined
			change(stays, me, delivery.Joined),   // 2
			to(delivery.ToSession(stays)),        // 3
			change(stays, me, delivery.Left),     // 4
			to(delivery.ToSession(stays)),        // 5: while they were away
			change(gone, me, delivery.Joined),    // 6
			to(delivery.ToSession(gone)),         // 7
			to(delivery.ToUser(me)),              // 8
			change(stays, me, delivery.Joined),   // 9
			change(gone, me, delivery.Left),      // 10
			to(delivery.ToUser(other)),           // 11
			to(delivery.ToSession(stays)),        // 12
			to(delivery.ToSession(gone)),         // 13
			change(gone, other, delivery.Joined), // 14
		} {
			put(t, w, row)
		}
		if got, want := rowsFor(t, s, me, 0, 14, 100), []delivery.Position{2, 3, 8, 9, 12}; !slices.Equal(got, want) {
			t.Errorf("theirs are %v, want %v", got, want)
		}
		if got, want := rowsFor(t, s, me, 2, 9, 100), []delivery.Position{3, 8, 9}; !slices.Equal(got, want) {
			t.Errorf("between 2 and 9: %v, want %v", got, want)
		}
		if got, want := rowsFor(t, s, me, 0, 14, 3), []delivery.Position{2, 3, 8}; !slices.Equal(got, want) {
			t.Errorf("a page of three: %v, want %v", got, want)
		}
		if got := rowsFor(t, s, id.NewUser(), 0, 14, 100); got != nil {
			t.Errorf("a stranger gets %v", got)
		}
		for at, want := range map[delivery.Position][]id.Session{1: nil, 2: {stays}, 4: nil, 7: {gone}, 9: {gone, stays}, 14: {stays}} {
			got, err := s.SessionsOf(t.Context(), me, at)
			slices.Sort(got)
			slices.Sort(want)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("at %d in %v, error %v, want %v", at, got, err, want)
			}
		}
	})
}

func TestAnOutboxRowComesBackAsItWasEmitted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		want := delivery.Row{
			Audience: delivery.ToSession(id.NewSession()), Kind: delivery.KindRun, FrameType: "x", Payload: []byte("{\"a\":\"\\u0000<\xc3\xa9\"}"),
			Session: id.NewSession(), Message: id.NewMessage(), Run: id.NewRun(), From: 3, To: 9,
			Change: delivery.Joined, ChangeUser: id.NewUser(), Bytes: 1234,
		}
		do(t, w, nil, func(_ context.Context, tx *Tx) error {
			tx.Emit(want)
			return nil
		})
		want.Position = 1
		rows, err := s.Rows(t.Context(), 0, 10)
		if err != nil || len(rows) != 1 {
			t.Fatalf("read %d rows, error %v", len(rows), err)
		}
		if got, want := fmt.Sprintf("%+v", rows[0]), fmt.Sprintf("%+v", want); got != want {
			t.Errorf("row came back as\n%s, want\n%s", got, want)
		}
	})
}

func TestBoundsKnowHeadAndFloor(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		expect := func(floor, head delivery.Position) {
			t.Helper()
			got, err := s.Bounds(t.Context())
			if want := (delivery.Bounds{Epoch: s.Epoch(), Floor: floor, Head: head}); err != nil || got != want {
				t.Errorf("bounds %+v, error %v, want %+v", got, err, want)
			}
		}
		trim := func(upTo int) {
			do(t, w, nil, func(ctx context.Context, tx *Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM outbox WHERE pos <= $1`, upTo)
				return err
			})
		}
		expect(0, 0)
		for range 5 {
			put(t, w, delivery.Row{Audience: delivery.ToUser(id.NewUser())})
		}
		expect(0, 5)
		trim(3)
		expect(3, 5)
		trim(5)
		expect(5, 5)
	})
}

func TestBacklogCountsRowsAndBytesOfTheirs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		me, session := id.NewUser(), id.NewSession()
		put(t, w, change(session, me, delivery.Joined)) // {}: 2 bytes
		put(t, w, delivery.Row{Audience: delivery.ToSession(session), Bytes: 1000})
		put(t, w, delivery.Row{Audience: delivery.ToUser(me), Payload: []byte(`{"a":1}`)})
		put(t, w, delivery.Row{Audience: delivery.ToUser(id.NewUser()), Bytes: 1 << 20})
		for limit, want := range map[int]delivery.Backlog{10: {Rows: 3, Bytes: 1009}, 0: {}} {
			got, err := s.Backlog(t.Context(), me, 0, 4, limit)
			if err != nil || got != want {
				t.Errorf("limit %d: %+v, error %v, want %+v", limit, got, err, want)
			}
		}
		if got, err := s.Backlog(t.Context(), me, 0, 4, 2); err != nil || got.Rows != 2 {
			t.Errorf("counting stops at %d, error %v, want 2", got.Rows, err)
		}
	})
}

// Writers of several hubs commit at once while a reader polls: it never meets a position whose predecessor it has not seen (P7).
func TestAReaderNeverSeesAHole(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		writers := []*Writer{w}
		if s.dialect.advisory { // only PostgreSQL has writers in several processes
			writers = append(writers, startWriter(t, s), startWriter(t, s))
		}
		const each = 100
		done := make(chan struct{}, len(writers))
		for _, w := range writers {
			go func() {
				defer func() { done <- struct{}{} }()
				for range each {
					err := w.Do(t.Context(), nil, func(_ context.Context, tx *Tx) error {
						for range 3 {
							tx.Emit(delivery.Row{Audience: delivery.ToUser("u"), Kind: delivery.KindFrame, Payload: []byte(`{}`)})
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			}()
		}
		var last delivery.Position
		for want := delivery.Position(3 * each * len(writers)); last < want && !t.Failed(); {
			rows, err := s.Rows(t.Context(), last, 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if r.Position != last+1 {
					t.Fatalf("after %d came %d", last, r.Position)
				}
				last = r.Position
			}
		}
		for range writers {
			<-done
		}
	})
}
