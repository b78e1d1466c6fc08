package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
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
	orderFrames = 12                   // of each, if nobody asks for a time
	orderPoll   = 2 * time.Millisecond // of readers
)

// Promise P4: with 16 edges writing 64 runs through two hubs, while people cancel some of them, each run's log is 1..n at every moment,
// and the outbox tells of it in that order. One reader follows the logs, another one the outbox.
func TestALogIsDenseAndInCommitOrderAtEveryMoment(t *testing.T) {
	chance := chanceOf(t)
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
			writing, random := spanOf(orderFrames), chance.part(i)
			writers.Go(func() { writing.each(func() bool { return writeFrame(t, hub, j, mine, random) }) })
		}
		stop := make(chan struct{})
		var readers sync.WaitGroup
		readers.Go(func() { watchLogs(t, hubs[0], runs, stop) })
		told := tail{told: map[id.Run]uint64{}}
		readers.Go(func() { told.watch(t, s, stop) })
		writers.Wait()
		close(stop)
		readers.Wait()
		told.check(t, hubs[0], runs, chance)
	})
}

// lanes opens a lane with some runs in one conversation.
func lanes(tb testing.TB, r *record) (*journal, []id.Run) {
	tb.Helper()
	j := newJournal(id.NewEdge())
	var runs []id.Run
	session := r.conversation(tb)
	for range *logs / orderLanes {
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

// writeFrame commits a frame with some rows, and now and then cancels a run. It says whether that went well.
func writeFrame(tb testing.TB, r *record, j *journal, runs []id.Run, random *rand.Rand) bool {
	tb.Helper()
	for range 1 + random.IntN(20) {
		j.write(tb, runs[random.IntN(len(runs))], wireDelta, json.RawMessage(`{"delta":"x"}`))
	}
	first, last := int(j.lane.Watermark), len(j.rows)
	res, err := r.Lanes.Commit(tb.Context(), j.frame(first+1, last))
	if err != nil || res.Chain != j.chain {
		tb.Errorf("commit: %+v, %v", res, err)
		return false
	}
	j.lane.Watermark, j.lane.Chain = res.Watermark, res.Chain
	clear(j.rows[first:last]) // hours of them would not fit into memory
	if random.IntN(4) == 0 {
		if _, err := r.Runs.Cancel(tb.Context(), runs[random.IntN(len(runs))], r.fleet.owner); err != nil {
			tb.Errorf("cancel: %v", err)
			return false
		}
	}
	return true
}

// watchLogs reads each log from where it was, again and again: what it finds must follow without a hole.
func watchLogs(t *testing.T, r *record, runs []id.Run, stop <-chan struct{}) {
	seen := map[id.Run]runlog.EventSeq{}
	tick := time.NewTicker(orderPoll)
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

// tail follows the outbox from its beginning. Owned by one goroutine.
type tail struct {
	after delivery.Position
	told  map[id.Run]uint64 // up to which event of a run
}

// watch polls until stop is closed and everything is read.
func (o *tail) watch(t *testing.T, s *Store, stop <-chan struct{}) {
	tick := time.NewTicker(orderPoll)
	defer tick.Stop()
	for over := false; ; {
		rows, err := s.Rows(t.Context(), o.after, 500)
		if err == nil {
			err = o.take(rows)
		}
		if err != nil {
			t.Errorf("follow the outbox: %v", err)
			return
		}
		if over && len(rows) == 0 {
			return
		}
		select {
		case <-stop:
			over = true
		case <-tick.C:
		}
	}
}

// take fails unless the positions are dense and the stretches of each run follow one another.
func (o *tail) take(rows []delivery.Row) error {
	for _, row := range rows {
		if row.Position != o.after+1 {
			return fmt.Errorf("position %d came after %d", row.Position, o.after)
		}
		o.after = row.Position
		if row.Kind != delivery.KindRun {
			continue
		}
		if row.From != o.told[row.Run]+1 {
			return fmt.Errorf("run %s: events %d.. came after %d", row.Run, row.From, o.told[row.Run])
		}
		o.told[row.Run] = row.To
	}
	return nil
}

// check compares what was told in the end with each log.
func (o *tail) check(t *testing.T, r *record, runs []id.Run, chance chance) {
	t.Helper()
	events := 0
	for _, runID := range runs {
		stored := len(r.logOf(t, runID))
		if found := r.get(t, runID); uint64(found.LastEventSeq) != o.told[runID] || stored != int(o.told[runID]) {
			t.Errorf("run %s has %d events, the outbox told of %d", runID, found.LastEventSeq, o.told[runID])
		}
		events += stored
	}
	t.Logf("figure: P4: %d events of %d runs, %d rows of the outbox (SEED=%d)", events, len(runs), o.after, chance.seed)
}

// The positive control: an outbox with a hole, and one that tells of a run's events in another order, are found out.
func TestAnOutboxThatIsNotDenseIsSeen(t *testing.T) {
	mine := id.NewRun()
	row := func(at delivery.Position, from, to uint64) delivery.Row {
		return delivery.Row{Position: at, Kind: delivery.KindRun, Run: mine, From: from, To: to}
	}
	for what, c := range map[string]struct {
		rows []delivery.Row
		fine bool
	}{
		"whole":                   {[]delivery.Row{row(1, 1, 3), row(2, 4, 4)}, true},
		"a position is missing":   {[]delivery.Row{row(1, 1, 3), row(3, 4, 4)}, false},
		"an event is missing":     {[]delivery.Row{row(1, 1, 3), row(2, 5, 5)}, false},
		"an event is told twice":  {[]delivery.Row{row(1, 1, 3), row(2, 3, 4)}, false},
		"events the wrong way":    {[]delivery.Row{row(1, 4, 4), row(2, 1, 3)}, false},
		"positions the wrong way": {[]delivery.Row{row(2, 1, 3), row(1, 4, 4)}, false},
	} {
		o := tail{told: map[id.Run]uint64{}}
		if err := o.take(c.rows); (err == nil) != c.fine {
			t.Errorf("%s: %v", what, err)
		}
	}
}
