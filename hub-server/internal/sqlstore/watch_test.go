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
