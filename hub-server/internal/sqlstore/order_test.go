package sqlstore

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	orderLanes  = 16
	orderRuns   = 4 // per lane
	orderFrames = 12
)

// Promise P4: with 16 edges writing 64 runs through two hubs, while people cancel some of them, each run's log is 1..n at every moment,
// and the outbox tells of it in that order.
func TestALogIsDenseAndInCommitOrderAtEveryMoment(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		hubs := []*record{newRecord(t, s, w)}
		if s.dialect.advisory {
			hubs = append(hubs, newRecord(t, s, startWriter(t, s)))
		}
		var runs []id.Run
		var writers sync.WaitGroup
		for i := range orderLanes {
			hub := hubs[i%len(hubs)]
			j, mine := lanes(t, hub)
			runs = append(runs, mine...)
			writers.Go(func() { writeLane(t, hub, j, mine) })
		}
		stop := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() { watchLogs(t, hubs[0], runs, stop) })
		writers.Wait()
		close(stop)
		reader.Wait()
		checkOrder(t, hubs[0], runs)
	})
}

// lanes opens a lane with some runs in one conversation.
func lanes(tb testing.TB, r *record) (*journal, []id.Run) {
	tb.Helper()
	j := newJournal(id.NewEdge())
	var runs []id.Run
	session := r.conversation(tb)
	for range orderRuns {
		n := r.start(tb, session)
		do(tb, r.writer, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE runs SET edge_id = $2, state = 'dispatched' WHERE run_id = $1`, string(n.ID), string(j.edge))
			return err
		})
		runs = append(runs, n.ID)
	}
	j.open(tb, r)
	return j, runs
}

func writeLane(tb testing.TB, r *record, j *journal, runs []id.Run) {
	tb.Helper()
	for range orderFrames {
		for range 1 + rand.IntN(20) {
			j.write(tb, runs[rand.IntN(len(runs))], wireDelta, json.RawMessage(`{"delta":"x"}`))
		}
		res, err := r.Lanes.Commit(tb.Context(), j.frame(int(j.lane.Watermark)+1, len(j.rows)))
		if err != nil || res.Chain != j.chain {
			tb.Errorf("commit: %+v, %v", res, err)
			return
		}
		j.lane.Watermark, j.lane.Chain = res.Watermark, res.Chain
		if rand.IntN(4) == 0 {
			if _, err := r.Runs.Cancel(tb.Context(), runs[rand.IntN(len(runs))], r.fleet.owner); err != nil {
				tb.Errorf("cancel: %v", err)
				return
			}
		}
	}
}

// watchLogs reads each log from where it was, again and again: what it finds must follow without a hole.
func watchLogs(t *testing.T, r *record, runs []id.Run, stop <-chan struct{}) {
	seen := map[id.Run]runlog.EventSeq{}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, runID := range runs {
			page, err := r.Runs.Events(t.Context(), runID, seen[runID], 0)
			if err != nil {
				t.Errorf("read: %v", err)
				return
			}
			for _, e := range page.Events {
				if e.Seq != seen[runID]+1 {
					t.Errorf("run %s: event %d came after %d", runID, e.Seq, seen[runID])
					return
				}
				seen[runID] = e.Seq
			}
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// checkOrder follows the outbox from its beginning: its stretches of each run must follow one another, in dense positions, and reach
// the end of each log.
func checkOrder(t *testing.T, r *record, runs []id.Run) {
	t.Helper()
	told := map[id.Run]uint64{}
	for after := delivery.Position(0); ; {
		rows, err := r.store.Rows(t.Context(), after, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			if row.Position != after+1 {
				t.Fatalf("position %d came after %d", row.Position, after)
			}
			after = row.Position
			if row.Kind != delivery.KindRun {
				continue
			}
			if row.From != told[row.Run]+1 {
				t.Fatalf("run %s: events %d.. came after %d", row.Run, row.From, told[row.Run])
			}
			told[row.Run] = row.To
		}
	}
	for _, runID := range runs {
		if found := r.get(t, runID); uint64(found.LastEventSeq) != told[runID] || len(r.logOf(t, runID)) != int(told[runID]) {
			t.Errorf("run %s has %d events, the outbox told of %d", runID, found.LastEventSeq, told[runID])
		}
	}
}
