package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// teller is the Herald of one hub process, with a clock that the test moves.
type teller struct {
	t  *testing.T
	h  *runlog.Herald
	at time.Time
}

const toldAfter = 10 * time.Second

func newTeller(t *testing.T, r *record) *teller {
	return &teller{t: t, h: runlog.NewHerald(r.Runs, NewRunlog(r.store, r.writer, "hub"), toldAfter), at: time.Now()}
}

// watch looks for a while, every other second.
func (w *teller) watch(d time.Duration) {
	w.t.Helper()
	for ; d > 0; d -= 2 * time.Second {
		w.at = w.at.Add(2 * time.Second)
		if err := w.h.Look(w.t.Context(), w.at, w.at.Round(0)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// topics returns what the log of a run tells the people of its conversation.
func (r *record) topics(t *testing.T, runID id.Run) (topics []string) {
	t.Helper()
	for _, e := range r.logOf(t, runID) {
		if e.Type != event.RunNotice {
			continue
		}
		var p event.NoticePayload
		if err := json.Unmarshal(e.Payload, &p); err != nil || p.Summary == "" || e.Late {
			t.Errorf("notice %s: %v, late %v", e.Payload, err, e.Late)
		}
		topics = append(topics, p.Topic)
	}
	return topics
}

func mustTell(t *testing.T, r *record, n runlog.NewRun, want ...string) {
	t.Helper()
	if got := r.topics(t, n.ID); !slices.Equal(got, want) {
		t.Fatalf("the log tells of %q, want %q", got, want)
	}
}

func TestAConversationIsToldOnceThatAnEdgeIsAway(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.flush(t, r)
		w := newTeller(t, r)
		w.watch(time.Minute)
		mustTell(t, r, n)
		r.fleet.set(j.edge, false)
		w.watch(toldAfter)
		mustTell(t, r, n) // it may be back in a moment
		w.watch(time.Minute)
		mustTell(t, r, n, event.TopicEdgeOffline)
		newTeller(t, r).watch(time.Minute) // the hub was started again
		mustTell(t, r, n, event.TopicEdgeOffline)

		r.fleet.set(j.edge, true)
		w.watch(2 * time.Second)
		r.fleet.set(j.edge, false)
		w.watch(time.Minute)
		mustTell(t, r, n, event.TopicEdgeOffline, event.TopicEdgeOffline) // another absence
		if found := r.get(t, n.ID); found.State != run.StateRunning {
			t.Errorf("the run is %s", found.State)
		}
	})
}

func TestTwoHubsTellAConversationOnce(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		second := r.start(t, n.Session)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		j.flush(t, r)
		r.fleet.set(j.edge, false)
		one, other := newTeller(t, r), newTeller(t, r)
		one.watch(toldAfter)
		other.watch(toldAfter)
		done := make(chan struct{})
		go func() {
			defer close(done)
			other.watch(2 * time.Second)
		}()
		one.watch(2 * time.Second)
		<-done
		if all := append(r.topics(t, n.ID), r.topics(t, second.ID)...); !slices.Equal(all, []string{event.TopicEdgeOffline}) {
			t.Errorf("the conversation was told of %q", all)
		}
	})
}

func TestARunThatWaitsForAnEdgeSaysSoAndStillStarts(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		edge := r.fleet.add(false)
		n := r.start(t, r.conversation(t))
		w := newTeller(t, r)
		w.watch(time.Minute)
		mustTell(t, r, n, event.TopicEdgeOffline)
		if found := r.get(t, n.ID); found.State != run.StateWaitingEdge {
			t.Fatalf("the run is %s", found.State)
		}
		r.fleet.set(edge, true)
		j := newJournal(edge)
		j.open(t, r)
		if err := r.Runs.DispatchWaiting(t.Context(), edge); err != nil {
			t.Fatal(err)
		}
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		msg := j.say(t, n.ID, "here")
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: msg})
		j.flush(t, r)
		w.watch(time.Minute)
		if found := r.get(t, n.ID); found.State != run.StateCompleted || found.FinalMessage != msg {
			t.Errorf("the run is %s with %s", found.State, found.FinalMessage)
		}
		mustTell(t, r, n, event.TopicEdgeOffline)
	})
}

func TestAProfileThatIsOnNoMachineIsTold(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		r.fleet.add(true)
		n, err := r.Dispatcher.Prepare(t.Context(), runlog.Request{
			Session: r.conversation(t), Agent: fleet.Agent{ID: id.NewAgent(), Name: "poet", Owner: r.fleet.owner, Profile: "poet", Runtime: "events"},
			Prompt: "rhyme", Trigger: id.NewMessage(), RequestedBy: r.fleet.owner, TraceID: traceID,
		})
		if err != nil {
			t.Fatal(err)
		}
		do(t, r.writer, runLocks(n), func(ctx context.Context, tx *Tx) error { return tx.insertRun(ctx, n) })
		newTeller(t, r).watch(time.Minute)
		mustTell(t, r, n, event.TopicRuntimeDegraded)
	})
}

// Nothing that this process has not looked at counts.
func TestAPauseBeginsTheObservationAnew(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		r.fleet.add(false)
		n := r.start(t, r.conversation(t))
		w := newTeller(t, r)
		w.watch(toldAfter)
		w.at = w.at.Add(time.Hour)
		w.watch(toldAfter)
		mustTell(t, r, n)
		w.watch(2 * time.Second)
		mustTell(t, r, n, event.TopicEdgeOffline)
	})
}
