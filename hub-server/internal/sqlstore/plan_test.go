package sqlstore

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// PostgreSQL chooses how it reads from what it knows of the tables, so a statement that is quick in a small store may read a whole log in a
// large one. The rows that it looks at are held to the rows that are wanted.

const longLog = 5000 // events of a run

// lengthen gives a run as many events as a long one has.
func (r *record) lengthen(tb testing.TB, runID id.Run) {
	tb.Helper()
	const grow = `
INSERT INTO run_events (run_id, event_seq, place, event_id, event_type, wire_type, occurred_at, recorded_at, payload, payload_checksum,
    schema_version, trace_id, span_id, late)
SELECT $1, n, n, 'evt_' || n, 'message.delta', 'message.delta', n, n, '{"delta":"words as a model says them"}', '', 1, '', '', FALSE
FROM generate_series(1, CAST($2 AS BIGINT)) n`
	do(tb, r.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, grow, string(runID), longLog)
		return err
	})
}

// step is a step of a plan as PostgreSQL tells it.
type step struct {
	Relation string  `json:"Relation Name"`
	Given    float64 `json:"Actual Rows"` // on average, each time
	Times    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Joined   float64 `json:"Rows Removed by Join Filter"`
	Steps    []step  `json:"Plans"`
}

// looksAt is how many rows of a table a step, with those below it, looks at.
func (s step) looksAt(table string) (rows float64) {
	if s.Relation == table {
		rows = (s.Given + s.Filtered) * s.Times
	}
	for _, below := range s.Steps {
		rows += below.looksAt(table)
	}
	return rows
}

// explained runs a statement and says how it was done.
func explained(tb testing.TB, s *Store, query string, args ...any) step {
	tb.Helper()
	var told []byte
	if err := s.readDB.QueryRowContext(tb.Context(), `EXPLAIN (ANALYZE, FORMAT JSON) `+query, args...).Scan(&told); err != nil {
		tb.Fatal(err)
	}
	var plans []struct{ Plan step }
	if err := json.Unmarshal(told, &plans); err != nil {
		tb.Fatal(err)
	}
	return plans[0].Plan
}

func TestPostgresReadsNoMoreOfALogThanIsWanted(t *testing.T) {
	s := openAt(t, migratedPostgres(t))
	r := newRecord(t, s, startWriter(t, s))
	r.fleet.add(true)
	var runs []id.Run
	for range 4 {
		n := r.start(t, r.conversation(t))
		r.lengthen(t, n.ID)
		runs = append(runs, n.ID)
	}
	do(t, r.writer, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `ANALYZE`)
		return err
	})
	const wanted = 50 // of each stretch
	for _, size := range bulkSizes {
		var args []any
		for i := range size {
			from := 100 + i*wanted
			args = append(args, string(runs[i%len(runs)]), from, from+wanted-1)
		}
		done := explained(t, s, selectStretches.text(true, size), args...)
		if done.Given != float64(size*wanted) {
			t.Errorf("%d stretches give %v rows, want %d", size, done.Given, size*wanted)
		}
		if got, most := done.looksAt("run_events"), float64(2*size*wanted); got > most {
			t.Errorf("%d stretches look at %v rows of %d, want at most %v", size, got, longLog*len(runs), most)
		}
	}
	page := explained(t, s, selectEvents, string(runs[0]), 100, 100+wanted)
	if got := page.looksAt("run_events"); got > 2*wanted {
		t.Errorf("a page of %d looks at %v rows", wanted, got)
	}
}
