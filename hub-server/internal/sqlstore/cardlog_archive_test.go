package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// speak lets a run of a conversation begin, say something and end.
func (k *keeper) speak(tb testing.TB, j *journal, session id.Session) runlog.NewRun {
	tb.Helper()
	run := k.start(tb, session)
	j.write(tb, run.ID, wireStarted, json.RawMessage(`{}`))
	for range 120 {
		j.say(tb, run.ID, "Hello")
	}
	j.write(tb, run.ID, wireFinished, json.RawMessage(`{}`))
	j.send(tb, k.record, int(j.lane.Watermark)+1, len(j.rows))
	return run
}

// ordered is how many rows the order of conversations has of a run.
func (k *keeper) ordered(tb testing.TB, run id.Run) (n int) {
	tb.Helper()
	err := k.store.readDB.QueryRowContext(tb.Context(), `SELECT COUNT(*) FROM conversation_order WHERE run_id = $1`, string(run)).Scan(&n)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// Promise of S0 resume: a log leaves when its cards are told, and they leave with it.
func TestALogLeavesWhenItsCardsAreToldAndTheyLeaveWithIt(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j, session, hub := k.edge(t), k.conversation(t), k.teller(cardlog.Cards(card.English))
		trace := opened(t, hub, session)
		old := k.speak(t, j, session)
		k.forget(t)
		k.pass(t, month, agesLater())
		if n := k.stored(t, old.ID); n == 0 {
			t.Fatal("a log has left of which no card tells yet")
		}
		archiver := k.archiver(month)
		archiver.Traces = hub
		if err := archiver.Pass(t.Context(), agesLater()); err != nil {
			t.Fatal(err)
		}
		now, err := hub.Trace(t.Context(), trace.ID)
		if k.stored(t, old.ID) > 0 || err != nil || now.Head == 0 || now.Floor != now.Head {
			t.Fatalf("%d events are left, the trace is %+v, %v", k.stored(t, old.ID), now, err)
		}
		if n := k.ordered(t, old.ID); n > 0 {
			t.Errorf("%d rows are left of the order of what has left", n)
		}
		k.speak(t, j, session)
		after := opened(t, hub, session)
		rest := whole(t, hub, trace.ID, now.Head, 1<<12)
		if after.ID != trace.ID || after.Head < 2*now.Head-2 || rest == "" {
			t.Errorf("the trace goes on as %+v with\n%s", after, rest)
		}
		for _, from := range []card.Seq{0, 1, now.Floor - 1} {
			if _, err := hub.Read(t.Context(), trace.ID, from, 1); !errors.Is(err, cardlog.ErrExpired) {
				t.Errorf("behind %d: %v", from, err)
			}
		}
	})
}

// A trace that is made late tells what is left, and a run that still goes on keeps what was told since it began.
func TestCardsOfARunThatGoesOnStay(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j, session, hub := k.edge(t), k.conversation(t), k.teller(cardlog.Cards(card.English))
		first := k.speak(t, j, session)
		k.forget(t)
		k.pass(t, month, agesLater()) // nobody has looked: it leaves
		if n, order := k.stored(t, first.ID), k.ordered(t, first.ID); n > 0 || order > 0 {
			t.Fatalf("%d events are left, and %d rows of their order", n, order)
		}
		going := k.start(t, session)
		j.write(t, going.ID, wireStarted, json.RawMessage(`{}`))
		j.say(t, going.ID, "still here")
		j.send(t, k.record, int(j.lane.Watermark)+1, len(j.rows))
		trace := opened(t, hub, session)
		all := whole(t, hub, trace.ID, 0, 1<<20)
		last := k.speak(t, j, session)
		k.forget(t)
		archiver := k.archiver(month)
		archiver.Traces = hub
		if err := archiver.Pass(t.Context(), agesLater()); err != nil {
			t.Fatal(err)
		}
		if n := k.stored(t, last.ID); n > 0 {
			t.Errorf("%d events are left", n)
		}
		if again := whole(t, k.teller(cardlog.Cards(card.English)), trace.ID, 0, 1<<20); again == "" || again[:len(all)] != all {
			t.Errorf("told was\n%s\nleft is\n%s", all, again)
		}
	})
}

// sliced removes a few events at a time.
type sliced struct{ *Archives }

func (s sliced) Remove(ctx context.Context, _ int) (int, time.Duration, error) {
	return s.Archives.Remove(ctx, 50)
}

// The order of a conversation is no longer than what is left of it, and is still read from its beginning.
func TestTheOrderOfAConversationLeavesWithItsLogs(t *testing.T) {
	eachKeeper(t, func(t *testing.T, k *keeper) {
		j := k.edge(t)
		v := &talk{record: k.record, session: k.conversation(t), journal: j}
		var runs []id.Run
		for range 3 {
			runs = append(runs, k.speak(t, j, v.session).ID)
			v.post(t, "kept")
		}
		k.forget(t)
		archiver := retention.NewArchiver(sliced{k.logs}, nil, k.dir, month, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
		if err := archiver.Pass(t.Context(), agesLater()); err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			if n, order := k.stored(t, run), k.ordered(t, run); n > 0 || order > 0 {
				t.Errorf("%d events of %s are left, and %d rows of their order", n, run, order)
			}
		}
		hub := k.teller(cardlog.Cards(card.English))
		if told := textsOf(t, whole(t, hub, opened(t, hub, v.session).ID, 0, 1<<20)); !slices.Equal(told, []string{"kept", "kept", "kept"}) {
			t.Errorf("told is %q", told)
		}
		var rows int
		const count = `SELECT COUNT(*) FROM conversation_order WHERE session_id = $1`
		if err := k.store.readDB.QueryRowContext(t.Context(), count, string(v.session)).Scan(&rows); err != nil || rows > 10 {
			t.Errorf("the order has %d rows, %v", rows, err)
		}
	})
}

func TestTracesBeginAnewAfterARestore(t *testing.T) {
	for name, empty := range addresses() {
		t.Run(name, func(t *testing.T) {
			address, copied := empty(t), newFile(t)
			s := openAt(t, address)
			k := newTalk(t, newRecord(t, s, startWriter(t, s)))
			k.goOn(t, 20, chanceOf(t).part(0))
			before := opened(t, k.teller(echoes(1)), k.session)
			if _, err := Restore(t.Context(), copied, bytes.NewReader(take(t, address))); err != nil {
				t.Fatal(err)
			}
			restored := openAt(t, copied)
			again := newRecord(t, restored, startWriter(t, restored)).teller(echoes(1))
			if _, err := again.Trace(t.Context(), before.ID); !errors.Is(err, cardlog.ErrUnknown) {
				t.Errorf("the trace of before: %v", err)
			}
			if after := opened(t, again, k.session); after.ID == before.ID || after.Head != before.Head {
				t.Errorf("before %+v, after %+v", before, after)
			}
		})
	}
}
