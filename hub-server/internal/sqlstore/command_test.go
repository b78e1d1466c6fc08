package sqlstore

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func (r *record) pending(tb testing.TB, edge id.Edge) []wire.Command {
	tb.Helper()
	commands, err := r.Lanes.PendingCommands(tb.Context(), edge)
	if err != nil {
		tb.Fatal(err)
	}
	return commands
}

func (r *record) cancel(tb testing.TB, runID id.Run) runlog.Run {
	tb.Helper()
	found, err := r.Runs.Cancel(tb.Context(), runID, r.fleet.owner)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func TestAStartIsSentUntilItsReceiptAndSignedForItsEdge(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		for range 2 {
			commands := r.pending(t, j.edge)
			if len(commands) != 1 || commands[0].Kind != wire.Start || commands[0].RunID != n.ID || commands[0].Lease != 1 {
				t.Fatalf("commands are %+v, want the start", commands)
			}
			if !r.signer.CheckCommand(j.edge, commands[0]) || r.signer.CheckCommand(id.NewEdge(), commands[0]) {
				t.Error("the command is not signed for exactly its edge")
			}
			var body wire.Dispatch
			if err := json.Unmarshal(commands[0].Body, &body); err != nil || body.Prompt != "look around" || body.TaskID != n.ID {
				t.Errorf("body is %s", commands[0].Body)
			}
		}
		stranger := newJournal(r.fleet.add(true))
		receipt := wire.CommandReceipt{DeliveryID: n.Command.DeliveryID, RunID: n.ID, Status: wire.Rejected}
		if err := r.Lanes.Receipt(t.Context(), stranger.edge, receipt); err != nil {
			t.Fatal(err)
		}
		if len(r.pending(t, j.edge)) != 1 {
			t.Error("another edge's receipt closed the command")
		}
		j.answer(t, r, wire.Accepted, "")
		if got := r.pending(t, j.edge); len(got) != 0 {
			t.Errorf("after the receipt there is still %+v", got)
		}
		if found := r.get(t, n.ID); found.State != run.StateDispatched {
			t.Errorf("a receipt moved the run to %s", found.State)
		}
	})
}

func TestARejectedStartFailsTheRunWithTheEdgesCode(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.answer(t, r, wire.Rejected, fault.ProfileUnknown)
		found := r.get(t, n.ID)
		if found.State != run.StateFailed || found.Error.Code != fault.ProfileUnknown || found.Error.Retryable {
			t.Errorf("run is %s with %+v", found.State, found.Error)
		}
		if got := typesOf(r.logOf(t, n.ID)); !slices.Equal(got, []event.Type{event.RunFailed}) {
			t.Errorf("log is %v", got)
		}
	})
}

func TestCancellingARunNoEdgeHasHeardOfEndsItAtOnce(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		edge := r.fleet.add(false)
		session := r.conversation(t)
		waiting := r.start(t, session)
		r.fleet.set(edge, true)
		unsent := r.start(t, session)
		for name, n := range map[string]runlog.NewRun{"waiting": waiting, "unsent": unsent} {
			found := r.cancel(t, n.ID)
			if found.State != run.StateCancelled {
				t.Errorf("%s: state is %s", name, found.State)
			}
			log := r.logOf(t, n.ID)
			if !slices.Equal(typesOf(log), []event.Type{event.RunCancelling, event.RunCancelled}) {
				t.Fatalf("%s: log is %v", name, typesOf(log))
			}
			if string(log[1].Payload) != `{"external_stop_confirmed":true}` || log[1].TraceID != traceID {
				t.Errorf("%s: outcome is %s", name, log[1].Payload)
			}
			if root := event.SpanOf(n.ID, event.RunCancelled, nil); log[0].SpanID != root || log[1].SpanID != root {
				t.Errorf("%s: spans are %q and %q, want %q", name, log[0].SpanID, log[1].SpanID, root)
			}
			if again := r.cancel(t, n.ID); again.LastEventSeq != 2 {
				t.Errorf("%s: cancelling again appended up to %d", name, again.LastEventSeq)
			}
		}
		if got := r.pending(t, edge); len(got) != 0 {
			t.Errorf("the edge would still get %+v", got)
		}
	})
}

func TestCancellingARunThatAnEdgeMayHaveIsACommand(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		r.pending(t, j.edge) // from here on the start may be on its way
		if found := r.cancel(t, n.ID); found.State != run.StateCancelling {
			t.Errorf("state is %s", found.State)
		}
		r.cancel(t, n.ID)
		commands := r.pending(t, j.edge)
		if len(commands) != 2 || commands[0].Kind != wire.Start || commands[1].Kind != wire.Cancel {
			t.Fatalf("commands are %+v, want the start, then one cancel", commands)
		}
		if !r.signer.CheckCommand(j.edge, commands[1]) {
			t.Error("the cancel is not signed")
		}
		j.answer(t, r, wire.Accepted, "")
		j.write(t, n.ID, wireCancelled, event.RunCancelledPayload{ExternalStopConfirmed: true})
		j.flush(t, r)
		if got := typesOf(r.logOf(t, n.ID)); !slices.Equal(got, []event.Type{event.RunCancelling, event.RunCancelled}) {
			t.Errorf("log is %v", got)
		}
	})
}

func TestAReasonForACancelIsInTheLog(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		r.fleet.add(false)
		n := r.start(t, r.conversation(t))
		if _, err := r.Runs.CancelFor(t.Context(), n.ID, r.fleet.owner, "Wrong <branch>."); err != nil {
			t.Fatal(err)
		}
		var said event.RunCancellingPayload
		if err := json.Unmarshal(r.logOf(t, n.ID)[0].Payload, &said); err != nil || said.Reason != "Wrong <branch>." || said.RequestedBy != r.fleet.owner {
			t.Errorf("the log has %+v, %v", said, err)
		}
	})
}

func TestCancellingAnEndedRunIsRefused(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{})
		j.flush(t, r)
		_, err := r.Runs.Cancel(t.Context(), n.ID, r.fleet.owner)
		if !errors.Is(err, fault.New(fault.RunEnded, "")) {
			t.Errorf("got %v, want RunEnded", err)
		}
		_, err = r.Runs.Cancel(t.Context(), id.NewRun(), r.fleet.owner)
		if !errors.Is(err, fault.New(fault.NotFound, "")) {
			t.Errorf("got %v, want NotFound", err)
		}
	})
}

func TestACancelThatTheEdgeCannotMatchEndsTheRunUnconfirmed(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.answer(t, r, wire.Accepted, "")
		r.cancel(t, n.ID)
		j.answer(t, r, wire.Rejected, fault.TooLate)
		if found := r.get(t, n.ID); found.State != run.StateCancelling {
			t.Errorf("too late: state is %s, want to wait for the outcome that is on its way", found.State)
		}

		lost := r.start(t, n.Session)
		j.answer(t, r, wire.Accepted, "")
		r.cancel(t, lost.ID)
		j.answer(t, r, wire.Rejected, fault.NotFound)
		log := r.logOf(t, lost.ID)
		if last := log[len(log)-1]; last.Type != event.RunCancelled || string(last.Payload) != `{"external_stop_confirmed":false}` {
			t.Errorf("unknown run: the log ends with %s %s", last.Type, last.Payload)
		}
	})
}

func TestAWaitingRunStartsOnTheFirstEdgeThatComes(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		edges := []id.Edge{r.fleet.add(false), r.fleet.add(false)}
		session := r.conversation(t)
		runs := make([]runlog.NewRun, 100)
		for i := range runs {
			runs[i] = r.start(t, session)
		}
		if found := r.get(t, runs[0].ID); found.State != run.StateWaitingEdge || found.Edge != "" || found.Unknown {
			t.Errorf("run is %+v, want it to wait", found)
		}
		var wg sync.WaitGroup
		for _, e := range edges {
			wg.Go(func() {
				if err := r.Runs.DispatchWaiting(t.Context(), e); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		started := map[id.Run]int{}
		for _, e := range edges {
			for _, c := range r.pending(t, e) {
				started[c.RunID]++
				if found := r.get(t, c.RunID); found.Edge != e || found.State != run.StateDispatched || found.Lease != 1 {
					t.Errorf("run is %+v, its command went to %s", found, e)
				}
			}
		}
		for _, n := range runs {
			if started[n.ID] != 1 {
				t.Errorf("run %s was started %d times", n.ID, started[n.ID])
			}
		}
	})
}

func TestAStartOfARunThatEndedMeanwhileIsTakenBack(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		r.pending(t, j.edge)
		lost := newJournal(j.edge) // with the command unanswered, a lost journal changes nothing
		lost.open(t, r)
		if found := r.get(t, n.ID); found.State != run.StateDispatched {
			t.Errorf("state is %s", found.State)
		}
		lost.write(t, n.ID, wireFailed, event.RunFailedPayload{Error: event.ErrorObj{Code: fault.StartFailed, Message: "no", Retryable: true}})
		lost.flush(t, r)
		if got := r.pending(t, j.edge); len(got) != 0 {
			t.Errorf("the edge would start an ended run: %+v", got)
		}
		if found := r.get(t, n.ID); found.Error == nil || *found.Error != (event.ErrorObj{Code: fault.StartFailed, Message: "no", Retryable: true}) {
			t.Errorf("error is %+v", found.Error)
		}
	})
}
