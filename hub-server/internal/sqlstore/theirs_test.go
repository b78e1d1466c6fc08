package sqlstore

import (
	"context"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
	"pgregory.net/rapid"
)

// stay is what a person was in a conversation for: [from, to), to 0 while it lasts.
type stay struct{ from, to delivery.Position }

// towns are conversations that people come to and leave, and what is said to them, as a program of a few lines remembers it.
type towns struct {
	people   []id.User
	sessions []id.Session
	spans    map[id.User]map[id.Session][]stay
	rows     []delivery.Row // from first on
	first    delivery.Position
}

func newTowns(first delivery.Position) *towns {
	w := &towns{spans: map[id.User]map[id.Session][]stay{}, first: first}
	for range 3 {
		w.people, w.sessions = append(w.people, id.NewUser()), append(w.sessions, id.NewSession())
	}
	for _, u := range w.people {
		w.spans[u] = map[id.Session][]stay{}
	}
	return w
}

// move makes the next row: somebody comes or leaves, or something is said.
func (w *towns) move(t *rapid.T) delivery.Row {
	user, session := rapid.SampledFrom(w.people).Draw(t, "user"), rapid.SampledFrom(w.sessions).Draw(t, "session")
	at := w.first + delivery.Position(len(w.rows))
	row := delivery.Row{Audience: delivery.ToSession(session), Kind: delivery.KindFrame, Payload: []byte(`{}`)}
	switch rapid.IntRange(0, 3).Draw(t, "move") {
	case 0:
		row.Audience = delivery.ToUser(user)
	case 1:
		row.Session, row.ChangeUser = session, user
		if spans := w.spans[user][session]; len(spans) > 0 && spans[len(spans)-1].to == 0 {
			spans[len(spans)-1].to, row.Change = at, delivery.Left
		} else {
			w.spans[user][session], row.Change = append(spans, stay{from: at}), delivery.Joined
		}
	}
	w.rows = append(w.rows, row)
	return row
}

// theirs is what Outbox.RowsFor promises.
func (w *towns) theirs(u id.User, after, upTo delivery.Position, limit int) (found []delivery.Position) {
	for i, row := range w.rows {
		at := w.first + delivery.Position(i)
		if at <= after || at > upTo || len(found) == limit {
			continue
		}
		session, _ := row.Audience.Session()
		spans := w.spans[u][session]
		belongs := len(spans) > 0 && spans[len(spans)-1].to == 0
		within := slices.ContainsFunc(spans, func(s stay) bool { return s.from <= at && (s.to == 0 || at < s.to) })
		if row.Audience == delivery.ToUser(u) || belongs && within {
			found = append(found, at)
		}
	}
	return found
}

func TestByPositionAndBySessionTheSameRowsAreTheirs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		rapid.Check(t, func(rt *rapid.T) {
			bounds, err := s.Bounds(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			world := newTowns(bounds.Head + 1)
			do(t, w, nil, func(_ context.Context, tx *Tx) error {
				for range rapid.IntRange(1, 20).Draw(rt, "rows") {
					tx.Emit(world.move(rt))
				}
				return nil
			})
			last := len(world.rows)
			after := bounds.Head + delivery.Position(rapid.IntRange(0, last).Draw(rt, "after"))
			upTo := bounds.Head + delivery.Position(rapid.IntRange(0, last).Draw(rt, "up to"))
			limit := rapid.IntRange(0, last).Draw(rt, "limit")
			for _, u := range world.people {
				want := world.theirs(u, after, upTo, limit)
				if got := rowsFor(t, s, u, after, upTo, limit); !slices.Equal(got, want) {
					rt.Fatalf("theirs are %v, want %v", got, want)
				}
				for name, query := range map[string]string{"position": theirsByPosition(outboxColumns), "session": theirsBySession(outboxColumns)} {
					rows, err := outboxRows(s.queryPrepared(t.Context(), query+` ORDER BY 1 LIMIT $5`,
						string(delivery.ToUser(u)), int64(after), int64(upTo), string(u), limit))
					if got := positions(rows); err != nil || !slices.Equal(got, want) {
						rt.Fatalf("by %s %v are theirs, error %v, want %v", name, got, err, want)
					}
				}
			}
		})
	})
}

// A day of whoever is in thousands of conversations is read position by position, the rest of a life of whoever is in a few by conversation.
func TestWhatIsTheirsIsFoundFromWhateverIsFew(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		me := id.NewUser()
		for range 5 {
			put(t, w, change(id.NewSession(), me, delivery.Joined))
		}
		for stretch, want := range map[delivery.Position]string{
			0: theirsByPosition(`o.pos`), 5: theirsByPosition(`o.pos`), 6: theirsBySession(`o.pos`), 1 << 40: theirsBySession(`o.pos`),
		} {
			if got, err := s.theirs(t.Context(), `o.pos`, me, 3, 3+stretch); err != nil || got != want {
				t.Errorf("for %d positions and 5 conversations: %s, %v", stretch, got, err)
			}
		}
	})
}
