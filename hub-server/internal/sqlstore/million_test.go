package sqlstore

import (
	"context"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const million = 1_000_000 / share

// A run has any number of events (R22): a page is whole wherever in the log it lies. What it costs is measured by `make bench`.
func TestEveryPageOfAMillionEventsIsWholeWhereverItLies(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		r := newRecord(t, s, w)
		run := r.start(t, r.conversation(t))
		fillLog(t, w, run.ID)
		for name, c := range map[string]struct {
			after runlog.EventSeq
			want  int
		}{
			"first": {0, 100}, "middle": {million / 2, 100}, "last": {million - 100, 100}, "rest": {million - 3, 3}, "none": {million, 0},
		} {
			page, err := r.Runs.Events(t.Context(), run.ID, c.after, 100)
			if err != nil || len(page.Events) != c.want || page.Last != million {
				t.Errorf("%s page: %d events of %d, %v", name, len(page.Events), page.Last, err)
			}
			for i, e := range page.Events {
				if e.Seq != c.after+runlog.EventSeq(i)+1 {
					t.Fatalf("%s page: event %d is at place %d", name, e.Seq, i+1)
				}
			}
		}
		if _, err := r.Runs.Events(t.Context(), run.ID, million+1, 100); fault.CodeOf(err) != fault.CursorAhead {
			t.Errorf("beyond the end: %v", err)
		}
	})
}

// fillLog writes the log in slices: a group has half a minute on PostgreSQL.
func fillLog(t *testing.T, w *Writer, run id.Run) {
	t.Helper()
	const slice = million / 20
	for first := 1; first <= million; first += slice {
		do(t, w, nil, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, fillSlice, string(run), first, first+slice-1)
			return err
		})
	}
	do(t, w, nil, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, `UPDATE runs SET last_event_seq = $2 WHERE run_id = $1`, string(run), million)
		return err
	})
}

const fillSlice = `
WITH RECURSIVE n(i) AS (SELECT CAST($2 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $3)
INSERT INTO run_events (run_id, event_seq, place, event_id, event_type, wire_type, occurred_at, recorded_at, payload, payload_checksum,
    schema_version, trace_id, span_id, late)
SELECT $1, i, i, 'evt_0123456789abcdef0123', 'message.delta', 'run.agent.text_delta', i, i, CAST('{"content_index":0,"delta":"some words"}' AS BYTEA),
    '0000000000000000000000000000000000000000000000000000000000000000', 1, '4bf92f3577b34da6a3ce929d0e0e4736', '', FALSE
FROM n`
