package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// archiverOf lets runs leave as a hub does that serves conversations.
func (k *keeper) archiverOf(hub *omnilog.Logs) *retention.Archiver {
	a := k.archiver(month)
	a.Messages = hub
	return a
}

// lastPlaceOf is where a run has ended.
func (k *keeper) lastPlaceOf(tb testing.TB, run id.Run) (place int64) {
	tb.Helper()
	if err := k.store.readDB.QueryRowContext(tb.Context(), `SELECT MAX(place) FROM run_events WHERE run_id = $1`, string(run)).Scan(&place); err != nil {
		tb.Fatal(err)
	}
	return place
}

// Promise of S1: when logs leave, what is left of the conversation stays the same bytes, also of what has been said while the log that leaves went on.
func TestAConversationBeginsWhereLogsHaveLeftAndIsTheSameFromThere(t *testing.T) {
	for name, every := range map[string]int{"with checkpoints": 30, "without": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			eachKeeper(t, func(t *testing.T, k *keeper) {
				k.leavesAndStays(t, every)
			})
		})
	}
}

func (k *keeper) leavesAndStays(t *testing.T, every int) {
	j := k.edge(t)
	v := &talk{record: k.record, session: k.conversation(t), journal: j}
	v.post(t, "first")
	first := k.speak(t, j, v.session)
	v.runs = []id.Run{k.start(t, v.session).ID, first.ID} // what the first run says now comes late
	v.goOn(t, 10, chanceOf(t).part(0))
	second := k.speak(t, j, v.session) // beside the one that goes on
	floor := k.lastPlaceOf(t, second.ID)
	v.goOn(t, 20, chanceOf(t).part(1))
	v.post(t, "last")
	all := told(t, k.fresh(), v.session, 0, 1<<20)
	hub := folder(k.store, k.writer, every, omnilog.Page{Facts: 20, Bytes: 1 << 20})
	slow, _, err := hub.Follow(t.Context(), v.session, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	k.forget(t)
	if err := k.archiverOf(hub).Pass(t.Context(), agesLater()); err != nil {
		t.Fatal(err)
	}
	if n := k.stored(t, second.ID); n > 0 {
		t.Fatalf("%d events are left", n)
	}
	floor = max(floor, k.floor(t, v.session))
	want := behind(all, floor)
	if len(want) == 0 || len(want) == len(all) {
		t.Fatalf("%d of %d messages are behind the floor %d", len(want), len(all), floor)
	}
	for name, l := range map[string]*omnilog.Logs{"the same hub": hub, "another hub": k.fresh()} {
		sameLines(t, name, told(t, l, v.session, omnilog.FromTheBeginning, 1<<10), want)
		sameLines(t, name+" from the floor", told(t, l, v.session, floor, 1<<20), want)
		if _, _, err := l.Follow(t.Context(), v.session, floor-1); !errors.Is(err, omnilog.ErrTrimmed) {
			t.Errorf("%s before the floor: %v", name, err)
		}
		if _, err := l.After(t.Context(), v.session, 0, 10); !errors.Is(err, omnilog.ErrTrimmed) {
			t.Errorf("%s: history before the floor: %v", name, err)
		}
		h, err := l.Before(t.Context(), v.session, omnilog.AtTheEnd, 1000)
		if err != nil || h.More || h.View.Floor != floor {
			t.Errorf("%s: more is %v, the floor %d, %v", name, h.More, h.View.Floor, err)
		}
		sameLines(t, name+": history", linesOf(h.Items), complete(want))
		if h, err := l.Before(t.Context(), v.session, omnilog.Position{Place: floor - 1}, 10); err != nil || len(h.Items) > 0 || h.More {
			t.Errorf("%s: before the floor are %+v, %v", name, h, err)
		}
	}
	if got := k.slowly(t, slow); got != nil && !slices.Equal(got, behind(all, 0)) {
		t.Errorf("who was slow has %d messages of %d, and was not told", len(got), len(all))
	}
}

// slowly reads on; nil for a reader that is told that what comes next has left.
func (k *keeper) slowly(t *testing.T, r *omnilog.Reader) (lines []string) {
	t.Helper()
	for more := true; more; {
		var entries []omnilog.Entry
		var err error
		entries, more, err = r.Read(t.Context(), 1)
		if errors.Is(err, omnilog.ErrTrimmed) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			for n, m := range e.Messages {
				lines = append(lines, fmt.Sprintf("%d.%d %s", e.Place, n, m.Bytes()))
			}
		}
	}
	return lines
}

func (k *keeper) floor(t *testing.T, session id.Session) (floor int64) {
	t.Helper()
	const query = `SELECT COALESCE(MAX(place), 0) FROM omni_checkpoints WHERE session_id = $1 AND floor`
	if err := k.store.readDB.QueryRowContext(t.Context(), query, string(session)).Scan(&floor); err != nil {
		t.Fatal(err)
	}
	return floor
}

// Logs that have left before there were checkpoints: a conversation begins where they are missing, for every hub alike, and also in a store that was
// restored.
func TestAConversationOfWhichNobodyHasKeptTheBeginning(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		v := &talk{record: k.record, session: k.conversation(t), journal: j}
		v.post(t, "first")
		old := k.speak(t, j, v.session)
		gone := k.lastPlaceOf(t, old.ID)
		v.runs = []id.Run{k.start(t, v.session).ID, k.start(t, v.session).ID}
		v.goOn(t, 20, chanceOf(t).part(0))
		k.forget(t)
		k.pass(t, month, agesLater()) // as a hub did that knew of no messages
		hub := folder(k.store, k.writer, 5, omnilog.Page{Facts: 7, Bytes: 1 << 20})
		all := told(t, hub, v.session, omnilog.FromTheBeginning, 1)
		if len(all) == 0 || placeOf(all[0]) <= gone || k.floor(t, v.session) != gone {
			t.Fatalf("%d messages, the floor is %d, want %d", len(all), k.floor(t, v.session), gone)
		}
		sameLines(t, "another hub", told(t, k.fresh(), v.session, omnilog.FromTheBeginning, 1<<20), all)
		h, err := hub.Before(t.Context(), v.session, omnilog.AtTheEnd, 1000)
		if err != nil || h.More {
			t.Fatalf("more: %v, %v", h.More, err)
		}
		sameLines(t, "history", linesOf(h.Items), complete(all))
	})
}

// Logs that have left while a hub kept checkpoints which let them go without one of their own place: the conversation begins with the next one and is
// the same bytes from there.
func TestAConversationBeginsWithTheNextCheckpointWhereNobodyHasKeptOne(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		v := &talk{record: k.record, session: k.conversation(t), journal: j}
		v.post(t, "first")
		gone := k.lastPlaceOf(t, k.speak(t, j, v.session).ID)
		v.runs = []id.Run{k.start(t, v.session).ID, k.start(t, v.session).ID}
		v.goOn(t, 20, chanceOf(t).part(0))
		hub := folder(k.store, k.writer, 25, omnilog.Page{Facts: 7, Bytes: 1 << 20})
		all := told(t, hub, v.session, 0, 1<<20)
		next := k.store.checkpoints(t, v.session)
		next = slices.DeleteFunc(next, func(place int64) bool { return place < gone })
		if len(next) == 0 {
			t.Fatalf("no checkpoint is behind %d", gone)
		}
		k.forget(t)
		k.pass(t, month, agesLater()) // as a hub did that knew of no messages
		want := behind(all, next[0])
		for i, l := range []*omnilog.Logs{k.fresh(), hub} { // the second has all in its memory, and hears where it begins by now
			name := fmt.Sprint("hub ", i)
			var got []string
			for after, more := omnilog.FromTheBeginning, true; more; {
				h, err := l.After(t.Context(), v.session, after, 10)
				if err != nil {
					t.Fatal(err)
				}
				got, after, more = append(got, linesOf(h.Items)...), h.UpTo, h.More
			}
			sameLines(t, name+": history", got, complete(want))
			sameLines(t, name, told(t, l, v.session, omnilog.FromTheBeginning, 1<<20), want)
		}
		if floor := k.floor(t, v.session); floor != next[0] {
			t.Errorf("the floor is %d, want %d", floor, next[0])
		}
	})
}

// A checkpoint that was kept for a log to leave, and went with a change of a message meanwhile, holds the log up.
func TestALogDoesNotLeaveWithoutItsCheckpoint(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		run := k.speak(t, k.edge(t), k.conversation(t))
		hub := k.fresh()
		k.forget(t)
		archiver := k.archiver(month)
		archiver.Messages = keepsNothing{}
		if err := archiver.Pass(t.Context(), agesLater()); err != nil || k.stored(t, run.ID) == 0 {
			t.Fatalf("%d events are left, %v", k.stored(t, run.ID), err)
		}
		if err := k.archiverOf(hub).Pass(t.Context(), agesLater()); err != nil || k.stored(t, run.ID) > 0 {
			t.Fatalf("%d events are left, %v", k.stored(t, run.ID), err)
		}
	})
}

// keepsNothing stands for a checkpoint that was taken away between its keeping and the leaving.
type keepsNothing struct{}

func (keepsNothing) Keep(context.Context, id.Session, int64) error { return nil }

// A restored conversation begins where it did, with the same bytes: what the fold remembers at the floor is in the backup.
func TestARestoredConversationIsTheSame(t *testing.T) {
	for store, address := range addresses() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			before := address(t)
			s := openAt(t, before)
			k := newKeeper(t, newRecord(t, s, startWriter(t, s)), "me")
			j := k.edge(t)
			v := &talk{record: k.record, session: k.conversation(t), journal: j}
			v.runs = []id.Run{k.start(t, v.session).ID, k.start(t, v.session).ID}
			v.goOn(t, 10, chanceOf(t).part(0))
			k.speak(t, j, v.session)
			v.goOn(t, 10, chanceOf(t).part(1))
			k.forget(t)
			if err := k.archiverOf(k.fresh()).Pass(t.Context(), agesLater()); err != nil {
				t.Fatal(err)
			}
			all := told(t, k.fresh(), v.session, omnilog.FromTheBeginning, 1<<20)
			if k.floor(t, v.session) == 0 || len(all) == 0 {
				t.Fatalf("the floor is %d, %d messages are behind it", k.floor(t, v.session), len(all))
			}
			after := emptyAddresses()[store](t)
			if _, err := Restore(t.Context(), after, bytes.NewReader(take(t, before))); err != nil {
				t.Fatal(err)
			}
			restored := openAt(t, after)
			hub := folder(restored, startWriter(t, restored), 0, omnilog.Page{})
			sameLines(t, "restored", told(t, hub, v.session, omnilog.FromTheBeginning, 1<<20), all)
		})
	}
}
