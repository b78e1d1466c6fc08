package sqlstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// follower is a device: it shows what a snapshot gave it and what came behind its cursor.
type follower struct {
	user   id.User
	cursor delivery.Cursor
	shown  []string
}

// resume goes on from the cursor as the hub answers it.
func (f *follower) resume(t *testing.T, s *Store) delivery.Plan {
	t.Helper()
	bounds, err := s.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := delivery.Planner{Outbox: s}.Plan(t.Context(), f.user, id.NewDevice(), string(f.cursor))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Outcome != delivery.Replayed {
		f.shown = notesOf(t, s, f.user, 0, plan.From)
	}
	f.shown = append(f.shown, notesOf(t, s, f.user, plan.From, bounds.Head)...)
	f.cursor = delivery.NewCursor(bounds.Epoch, bounds.Head)
	return plan
}

// notesOf are the payloads of a user's rows.
func notesOf(t *testing.T, s *Store, u id.User, after, upTo delivery.Position) (notes []string) {
	t.Helper()
	rows, err := s.RowsFor(t.Context(), u, after, upTo, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		notes = append(notes, string(row.Payload))
	}
	return notes
}

// note commits n rows for a user, each with a text of its own.
func note(t *testing.T, w *Writer, u id.User, text string, n int) {
	t.Helper()
	for i := range n {
		put(t, w, delivery.Row{Audience: delivery.ToUser(u), Payload: fmt.Appendf(nil, `"%s %d"`, text, i)})
	}
}

// ahead is a device that has seen more than the backup has when a store is lost and restored, tampered with, and used until it has more rows
// than the device ever saw. It returns how the device was told to go on, and what it then shows that is not so.
func ahead(t *testing.T, store string, tamper func(restored *Store, epoch string)) (delivery.Plan, []string) {
	t.Helper()
	before := addresses()[store](t)
	s := openAt(t, before)
	w := startWriter(t, s)
	f := follower{user: id.NewUser(), cursor: delivery.NewCursor(s.Epoch(), 0)}
	note(t, w, f.user, "kept", 3)
	data := take(t, before)
	note(t, w, f.user, "lost", 3)
	if f.resume(t, s); len(f.shown) != 6 {
		t.Fatalf("before the loss it shows %q", f.shown)
	}
	after := emptyAddresses()[store](t)
	if _, err := Restore(t.Context(), after, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	tampered(t, after, storedEpoch(t, s), tamper)
	restored := openAt(t, after)
	note(t, startWriter(t, restored), f.user, "new", 5)
	plan := f.resume(t, restored)
	return plan, untrue(f.shown, notesOf(t, restored, f.user, 0, 100))
}

func storedEpoch(t *testing.T, s *Store) (epoch string) {
	t.Helper()
	if err := s.writeDB.QueryRowContext(t.Context(), `SELECT epoch FROM store_counter`).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	return epoch
}

// tampered lets tamper at the store before a hub opens it.
func tampered(t *testing.T, address, epoch string, tamper func(restored *Store, epoch string)) {
	t.Helper()
	s, err := openBare(address)
	if err != nil {
		t.Fatal(err)
	}
	tamper(s, epoch)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// untrue says how what a device shows differs from what the store has.
func untrue(shown, stored []string) (wrong []string) {
	for _, note := range stored {
		if !slices.Contains(shown, note) {
			wrong = append(wrong, note+" is missing")
		}
	}
	for _, note := range shown {
		if !slices.Contains(stored, note) {
			wrong = append(wrong, note+" is no more")
		}
	}
	if len(wrong) == 0 && !slices.Equal(shown, stored) {
		wrong = append(wrong, fmt.Sprintf("the order is %q", shown))
	}
	return wrong
}

// P20. No device goes on from a place that is no more, though by its number the place is there again.
func TestADeviceAheadOfTheBackupShowsWhatTheRestoredStoreHas(t *testing.T) {
	for store := range addresses() {
		t.Run(store, func(t *testing.T) {
			plan, wrong := ahead(t, store, func(*Store, string) {})
			if plan.Outcome != delivery.Reset || plan.Reason != delivery.OtherEpoch || len(wrong) > 0 {
				t.Errorf("%s (%s), and then %q", plan.Outcome, plan.Reason, wrong)
			}
		})
	}
}

// The positive control: after a restore that keeps the epoch, a device is seen to miss rows and to show such as are no more.
func TestARestoreThatKeepsItsEpochIsSeenToMissAndMixRows(t *testing.T) {
	for store := range addresses() {
		t.Run(store, func(t *testing.T) {
			plan, wrong := ahead(t, store, func(restored *Store, epoch string) {
				if _, err := restored.writeDB.ExecContext(context.Background(), `UPDATE store_counter SET epoch = $1`, epoch); err != nil {
					t.Fatal(err)
				}
			})
			want := []string{
				`"new 0" is missing`, `"new 1" is missing`, `"new 2" is missing`, `"lost 0" is no more`, `"lost 1" is no more`, `"lost 2" is no more`,
			}
			if plan.Outcome != delivery.Replayed || !slices.Equal(wrong, want) {
				t.Errorf("%s, and then %q: the test of this promise proves nothing", plan.Outcome, wrong)
			}
		})
	}
}
