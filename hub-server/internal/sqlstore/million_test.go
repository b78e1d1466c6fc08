package sqlstore

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	million    = 1_000_000 / share
	pageWithin = 50 * time.Millisecond
)

// A run has any number of events (R22): where a page lies in the log makes no difference to what it costs.
func TestEveryPageOfAMillionEventsIsServedInFiftyMilliseconds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, w *Writer) {
		r := newRecord(t, s, w)
		run := r.start(t, r.conversation(t))
		fillLog(t, w, run.ID)
		projection := canonical.Projection{View: canonical.Full, Agent: run.Agent, AgentChecksum: run.AgentChecksum}
		for name, after := range map[string]runlog.EventSeq{"first": 0, "middle": million / 2, "last": million - 100} {
			var took []time.Duration
			for range 5 {
				start := time.Now()
				page, err := r.Runs.Events(t.Context(), run.ID, after, 100)
				if err != nil || len(page.Events) != 100 || page.Events[99].Seq != after+100 || page.Last != million {
					t.Fatalf("%s page: %d events of %d, %v", name, len(page.Events), page.Last, err)
				}
				projection.AppendPage(nil, page, s.Epoch())
				took = append(took, time.Since(start))
			}
			t.Logf("%s page: %v", name, took)
			if slices.Min(took) > pageWithin { // what else this machine does only ever adds
				t.Errorf("%s page took %v", name, took)
			}
		}
	})
}

func fillLog(t *testing.T, w *Writer, run id.Run) {
	t.Helper()
	const fill = `
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
INSERT INTO run_events (run_id, event_seq, place, event_id, event_type, wire_type, occurred_at, recorded_at, payload, payload_checksum,
    schema_version, trace_id, span_id, late)
SELECT $1, i, i, 'evt_0123456789abcdef0123', 'message.delta', 'run.agent.text_delta', i, i, CAST('{"content_index":0,"delta":"some words"}' AS BYTEA),
    '0000000000000000000000000000000000000000000000000000000000000000', 1, '4bf92f3577b34da6a3ce929d0e0e4736', '', FALSE
FROM n`
	do(t, w, nil, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, fill, string(run), million); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE runs SET last_event_seq = $2 WHERE run_id = $1`, string(run), million)
		return err
	})
}
