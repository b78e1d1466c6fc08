package sqlstore

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestEventsAreReadFromANumberOn(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		for range 7 {
			j.write(t, n.ID, wireDelta, json.RawMessage(`{"delta":"x"}`))
		}
		j.flush(t, r)
		for _, c := range []struct {
			after       runlog.EventSeq
			limit       int
			first, last runlog.EventSeq
		}{{0, 0, 1, 7}, {0, 3, 1, 3}, {3, 3, 4, 6}, {6, 3, 7, 7}, {7, 3, 0, 0}} {
			page, err := r.Runs.Events(t.Context(), n.ID, c.after, c.limit)
			if err != nil || page.Last != 7 {
				t.Fatalf("after %d: last is %d, %v", c.after, page.Last, err)
			}
			if c.first == 0 {
				if len(page.Events) != 0 {
					t.Errorf("after %d there are %d events", c.after, len(page.Events))
				}
				continue
			}
			if page.Events[0].Seq != c.first || page.Events[len(page.Events)-1].Seq != c.last {
				t.Errorf("after %d: events %d to %d", c.after, page.Events[0].Seq, page.Events[len(page.Events)-1].Seq)
			}
			if page.Events[0].Edge != j.edge || page.Events[0].ProducerSeq == 0 {
				t.Errorf("event came from %q row %d", page.Events[0].Edge, page.Events[0].ProducerSeq)
			}
		}
		if _, err := r.Runs.Events(t.Context(), n.ID, 8, 0); !errors.Is(err, fault.New(fault.CursorAhead, "")) {
			t.Errorf("beyond the newest event: %v", err)
		}
		if _, err := r.Runs.Events(t.Context(), id.NewRun(), 0, 0); !errors.Is(err, fault.New(fault.NotFound, "")) {
			t.Errorf("unknown run: %v", err)
		}
	})
}

func TestRunsAreListedNewestFirstByWhatIsAskedFor(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		r.fleet.add(false)
		here, there := r.conversation(t), r.conversation(t)
		var all []id.Run
		for i := range 6 {
			all = append(all, r.start(t, []id.Session{here, there}[i%2]).ID)
		}
		slices.Reverse(all)
		r.cancel(t, all[0])
		for name, c := range map[string]struct {
			query runlog.Query
			want  []id.Run
		}{
			"all":         {runlog.Query{}, all},
			"a page":      {runlog.Query{Limit: 2}, all[:2]},
			"the next":    {runlog.Query{Limit: 2, Before: all[1]}, all[2:4]},
			"of one":      {runlog.Query{Session: here}, []id.Run{all[1], all[3], all[5]}},
			"by state":    {runlog.Query{State: run.StateCancelled}, all[:1]},
			"of somebody": {runlog.Query{RequestedBy: id.NewUser()}, nil},
			"of a member": {runlog.Query{Member: r.fleet.owner}, nil},
		} {
			found, err := r.Runs.List(t.Context(), c.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []id.Run
			for _, f := range found {
				got = append(got, f.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
	})
}

func TestARunOfAnAbsentEdgeIsUnknown(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		for _, online := range []bool{true, false} {
			r.fleet.set(j.edge, online)
			if found := r.get(t, n.ID); found.Unknown == online {
				t.Errorf("edge online: %t, run unknown: %t", online, found.Unknown)
			}
		}
		j.write(t, n.ID, wireFinished, json.RawMessage(`{}`))
		j.flush(t, r)
		if found := r.get(t, n.ID); found.Unknown {
			t.Error("a run that has ended is unknown")
		}
	})
}

func TestARunThatWaitsOnItsEdgeSaysWhatFor(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		const reason = "All places for agents on this edge are taken."
		j.write(t, n.ID, event.Wire(event.RunQueued), event.RunQueuedPayload{Reason: reason})
		j.flush(t, r)
		if found := r.get(t, n.ID); found.WaitsFor != reason || found.State != run.StateDispatched {
			t.Errorf("it waits: %+v", found)
		}
		j.write(t, n.ID, wireStarted, json.RawMessage(`{"started_at":"2026-01-02T03:04:05Z"}`))
		j.flush(t, r)
		if found := r.get(t, n.ID); found.WaitsFor != "" || found.State != run.StateRunning {
			t.Errorf("it runs: %+v", found)
		}
	})
}
