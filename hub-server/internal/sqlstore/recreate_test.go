package sqlstore

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// forget removes a run that has no events, as a restore of an older backup does.
func (r *record) forget(t *testing.T, runID id.Run) {
	t.Helper()
	for _, statement := range []string{`DELETE FROM edge_commands WHERE run_id = $1`, `DELETE FROM runs WHERE run_id = $1`} {
		if _, err := r.store.writeDB.ExecContext(t.Context(), statement, string(runID)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARunThatTheStoreHasLostIsRecreatedFromItsSignedStart(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		start := j.answer(t, r, wire.Accepted, "")[0]
		r.forget(t, n.ID)
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		said := j.say(t, n.ID, "whole answer")
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: said})

		f := j.frame(1, len(j.rows))
		f.Asked = map[id.Run]bool{}
		res, err := r.Lanes.Commit(t.Context(), f)
		if err != nil || !slices.Equal(res.Strange, []id.Run{n.ID}) || res.Watermark != 0 {
			t.Fatalf("got %+v, %v; want the frame to wait for %s", res, err, n.ID)
		}
		if err := r.Lanes.Recreate(t.Context(), j.edge, wire.Shown{RunID: n.ID, Command: &start}); err != nil {
			t.Fatal(err)
		}
		if err := r.Lanes.Recreate(t.Context(), j.edge, wire.Shown{RunID: n.ID, Command: &start}); err != nil { // shown twice
			t.Fatal(err)
		}
		j.flush(t, r)
		got := r.get(t, n.ID)
		if got.State != run.StateCompleted || got.Session != n.Session || got.Agent != n.Agent || got.Edge != j.edge || got.Lease != n.Lease ||
			got.RequestedBy != n.RequestedBy || got.TraceID != n.TraceID || !got.CreatedAt.Equal(n.CreatedAt) || len(got.AgentChecksum) != 64 {
			t.Errorf("recreated as %+v, it was %+v", got, n.Run)
		}
		if want := []event.Type{event.RunStarted, event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunCompleted}; !slices.Equal(typesOf(r.logOf(t, n.ID)), want) {
			t.Errorf("log is %v, want %v", typesOf(r.logOf(t, n.ID)), want)
		}
		if texts := r.messagesOf(t, n.Session); !slices.Equal(texts, []string{"whole answer"}) {
			t.Errorf("messages %q", texts)
		}
	})
}

func TestSEC17NoRunIsMadeOfWhatTheHubHasNotSigned(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		start := j.answer(t, r, wire.Accepted, "")[0]
		r.forget(t, n.ID)
		elsewhere := dispatchOf(t, start)
		elsewhere.SessionID = id.NewSession() // one that the restored store does not have
		body, err := json.Marshal(elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		other := start
		other.RunID = id.NewRun()
		for name, shown := range map[string]wire.Shown{
			"nothing":              {RunID: n.ID},
			"another run's":        {RunID: n.ID, Command: &other},
			"renamed":              {RunID: other.RunID, Command: &other},
			"another body":         {RunID: n.ID, Command: with(start, func(c *wire.Command) { c.Body = body })},
			"no start":             {RunID: n.ID, Command: with(start, func(c *wire.Command) { c.Kind = wire.Cancel })},
			"a higher lease":       {RunID: n.ID, Command: with(start, func(c *wire.Command) { c.Lease++ })},
			"unknown conversation": {RunID: n.ID, Command: new(r.signer.Command(j.edge, *with(start, func(c *wire.Command) { c.Body = body })))},
			"another edge's":       {RunID: n.ID, Command: new(r.signer.Command(id.NewEdge(), start))},
		} {
			if err := r.Lanes.Recreate(t.Context(), j.edge, shown); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, runID := range []id.Run{n.ID, other.RunID} {
				if _, err := r.Runs.Get(t.Context(), runID); fault.CodeOf(err) != fault.NotFound {
					t.Errorf("%s made run %s: %v", name, runID, err)
				}
			}
		}
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		f := j.frame(1, 1)
		f.Asked = map[id.Run]bool{n.ID: true} // and it could not show it
		res, err := r.Lanes.Commit(t.Context(), f)
		if err != nil || !slices.Equal(res.Refused, []fault.Code{fault.RowUnknownRun}) || !bytes.Equal(r.quarantined(t, 1), j.rows[0]) {
			t.Errorf("got %+v, %v; want the row in quarantine", res, err)
		}
	})
}

func dispatchOf(t *testing.T, c wire.Command) wire.Dispatch {
	t.Helper()
	d, err := wire.Decode[wire.Dispatch](c.Body)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func with(c wire.Command, change func(*wire.Command)) *wire.Command {
	change(&c)
	return &c
}

// An edge whose disk was put back from a copy numbers anew what the copy did not know to be committed.
func TestEventsThatComeAgainUnderAnotherIncarnationAreNotDoubled(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.answer(t, r, wire.Accepted, "")
		j.write(t, n.ID, wireStarted, json.RawMessage(`{}`))
		said := j.say(t, n.ID, "one")
		j.flush(t, r)

		restored := newJournal(j.edge)
		restored.hello.LiveRuns = []id.Run{n.ID}
		for i, row := range j.rows[1:] {
			restored.raw(renumbered(t, row, i+1))
		}
		restored.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: said})
		restored.open(t, r)
		if !restored.lane.Successor {
			t.Fatal("the lane is not known to follow another")
		}
		res := restored.flush(t, r)
		if int(res.Watermark) != len(restored.rows) || len(res.Refused) != 0 || res.Events != 1 {
			t.Errorf("got %+v, want one new event and the lane at its head", res)
		}
		want := []event.Type{event.RunStarted, event.MessageStarted, event.MessageDelta, event.MessageDone, event.RunCompleted}
		if got := typesOf(r.logOf(t, n.ID)); !slices.Equal(got, want) {
			t.Errorf("log is %v, want %v", got, want)
		}

		// A run of this life is not searched, and an id that another run has says nothing.
		next := r.start(t, n.Session)
		restored.raw(moved(t, j.rows[1], len(restored.rows)+1, next.ID))
		if res := restored.flush(t, r); res.Events != 1 {
			t.Errorf("another run's event with a known id: %+v", res)
		}
	})
}

func renumbered(t *testing.T, row []byte, seq int) []byte {
	t.Helper()
	return moved(t, row, seq, "")
}

func moved(t *testing.T, row []byte, seq int, to id.Run) []byte {
	t.Helper()
	e, err := event.ParseRow(row)
	if err != nil {
		t.Fatal(err)
	}
	e.Seq = uint64(seq)
	if to != "" {
		e.Scope.RunID = to
	}
	again, err := event.AppendRow(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	return again
}
