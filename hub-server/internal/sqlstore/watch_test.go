package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// watch runs the watch of a hub until the test ends, and returns what becomes ready after each commit.
func watch(t *testing.T, s *Store, after time.Duration) (*record, <-chan struct{}) {
	t.Helper()
	committed := make(chan struct{}, 1)
	w := startWriterThen(t, s, func(Committed) {
		select {
		case committed <- struct{}{}:
		default:
		}
	})
	r := newRecord(t, s, w)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- runlog.NewWatch(r.Runs, r.prompts, after).Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	return r, committed
}

// until waits for a run to reach a state.
func (r *record) until(t *testing.T, committed <-chan struct{}, runID id.Run, want run.State) {
	t.Helper()
	for limit := time.After(30 * time.Second); r.get(t, runID).State != want; {
		select {
		case <-committed:
		case <-limit:
			t.Fatalf("run is still %s, want %s", r.get(t, runID).State, want)
		}
	}
}

func TestAnAbsentEdgesRunIsClosedAndInterruptedAndItsTextStillPosted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, 40*time.Millisecond)
		j, n := launched(t, r)
		j.answer(t, r, "accepted", "")
		msg := id.NewMessage()
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.write(t, n.ID, wireBegun, event.MessageStartedPayload{MessageID: msg, Role: "assistant"})
		j.write(t, n.ID, wireDelta, event.DeltaPayload{MessageID: msg, Delta: "half"})
		j.flush(t, r)
		r.fleet.set(j.edge, false)
		r.until(t, committed, n.ID, run.StateInterrupted)

		log := r.logOf(t, n.ID)
		want := []event.Type{event.RunStarted, event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunInterrupted}
		if !slices.Equal(typesOf(log), want) {
			t.Errorf("log is %v, want %v", typesOf(log), want)
		}
		if got := string(log[4].Payload); got != `{"reason_code":"edge_absent"}` {
			t.Errorf("outcome is %s", got)
		}
		// The lid opens again (R35).
		r.fleet.set(j.edge, true)
		j.open(t, r)
		final := j.say(t, n.ID, "the whole")
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: final})
		j.flush(t, r)
		if got := r.messagesOf(t, n.Session); !slices.Equal(got, []string{"the whole"}) {
			t.Errorf("messages are %q", got)
		}
	})
}

// The hub that holds the edge lives, and the one that watches hears nothing of it.
func TestARunIsNotInterruptedForAnEdgeThatIsAtAnotherHub(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		const after = 40 * time.Millisecond
		r, committed := watch(t, s, after)
		peers := NewPeers(s, w)
		if err := peers.Announce(t.Context(), "other", time.Now()); err != nil {
			t.Fatal(err)
		}
		there, here := NewRunlog(s, w, "other"), NewRunlog(s, w, "hub")
		j, n := launched(t, r)
		held := func(by *Runlog, want bool) {
			t.Helper()
			if got, err := by.Holder(t.Context(), j.edge); err != nil || got.Elsewhere != want || got.Fence == 0 || got.Boot != j.hello.BootNonce {
				t.Errorf("held by %+v, %v", got, err)
			}
		}
		held(here, false) // by itself
		if _, _, err := there.OpenLane(t.Context(), j.edge, j.hello); err != nil {
			t.Fatal(err)
		}
		held(here, true)
		held(there, false)
		r.fleet.set(j.edge, false)
		look := runlog.NewWatch(r.Runs, r.prompts, after)
		for at := time.Now(); at.Before(time.Now().Add(time.Minute)); at = at.Add(time.Second) {
			if err := look.Look(t.Context(), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.get(t, n.ID).State; got.Ended() {
			t.Fatalf("the run is %s", got)
		}
		if err := peers.Leave(t.Context(), "other"); err != nil {
			t.Fatal(err)
		}
		held(here, false)
		r.until(t, committed, n.ID, run.StateInterrupted)
	})
}

// A hub of before raises the fence and does not say who it is.
func TestALaneThatAnOlderHubHasTakenIsHeldByNobodyThatIsKnown(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		if err := NewPeers(s, w).Announce(t.Context(), "other", time.Now()); err != nil {
			t.Fatal(err)
		}
		there, here := NewRunlog(s, w, "other"), NewRunlog(s, w, "hub")
		j := newJournal(id.NewEdge())
		for _, step := range []struct {
			do   func() error
			want bool
		}{
			{func() error { return nil }, false}, // it has never been here
			{func() error { _, _, err := there.OpenLane(t.Context(), j.edge, j.hello); return err }, true},
			{func() error { return w.Do(t.Context(), nil, raiseFence(j.edge)) }, false},
			{func() error { _, _, err := there.OpenLane(t.Context(), j.edge, j.hello); return err }, true},
		} {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			if held, err := here.Holder(t.Context(), j.edge); err != nil || held.Elsewhere != step.want {
				t.Errorf("held by %+v, %v; want elsewhere: %t", held, err, step.want)
			}
		}
	})
}

func raiseFence(edge id.Edge) func(context.Context, *Tx) error {
	return func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE lane_fences SET fence = fence + 1 WHERE edge_id = $1`, string(edge))
		return err
	}
}

func TestARunStoredAsWaitingWhileItsEdgeCameIsDispatched(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ *Writer) {
		r, committed := watch(t, s, time.Hour)
		edge := r.fleet.add(false)
		n := r.start(t, r.conversation(t))
		r.fleet.set(edge, true) // its hello came before the run was there
		r.until(t, committed, n.ID, run.StateDispatched)
		if got := r.pending(t, edge); len(got) != 1 || got[0].RunID != n.ID {
			t.Errorf("commands are %+v", got)
		}
	})
}
