package sqlstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// agesLater is when every run has been quiet for long enough.
func agesLater() time.Time { return time.Now().Add(1000 * time.Hour) }

// keeper is a record whose ended runs leave.
type keeper struct {
	*record
	logs *Archives
	dir  archive.Dir
}

func newKeeper(tb testing.TB, r *record, me peer.ID) *keeper {
	tb.Helper()
	return &keeper{record: r, logs: NewArchives(r.store, r.writer, me), dir: archive.Dir(filepath.Join(tb.TempDir(), "archive"))}
}

func eachKeeper(t *testing.T, contract func(t *testing.T, k *keeper)) {
	t.Helper()
	eachRecord(t, func(t *testing.T, r *record) { contract(t, newKeeper(t, r, "me")) })
}

func (k *keeper) archiver(policy retention.Policy) *retention.Archiver {
	return retention.NewArchiver(k.logs, nil, k.dir, policy, slog.New(slog.DiscardHandler), telemetry.NewRegistry("hub"))
}

// pass lets runs leave that may at that time.
func (k *keeper) pass(tb testing.TB, policy retention.Policy, now time.Time) {
	tb.Helper()
	if err := k.archiver(policy).Pass(tb.Context(), now); err != nil {
		tb.Fatal(err)
	}
}

// month is a policy by which runs stay for a month.
var month = retention.Policy{Age: 720 * time.Hour}

// forget trims the outbox: no device is owed anything any more.
func (k *keeper) forget(tb testing.TB) {
	tb.Helper()
	if _, _, err := NewOutboxTrim(k.writer).Trim(tb.Context(), agesLater(), 1_000_000); err != nil {
		tb.Fatal(err)
	}
}

// ended is a run of n events with payloads of all sorts, the last of which is its outcome.
func (k *keeper) ended(tb testing.TB, j *journal, n int) runlog.NewRun {
	tb.Helper()
	run := k.start(tb, k.conversation(tb))
	j.write(tb, run.ID, wireStarted, json.RawMessage(`{"started_at":"2026-01-02T03:04:05Z"}`))
	for i := range n - 2 {
		j.write(tb, run.ID, wireDelta, json.RawMessage(fmt.Sprintf("{\n\t\"delta\":\"%d <é>\\u2028\",\r\n \"n\": 1.0 , \"big\":1e400}", i)))
	}
	j.write(tb, run.ID, wireFinished, json.RawMessage(`{}`))
	for int(j.lane.Watermark) < len(j.rows) {
		j.send(tb, k.record, int(j.lane.Watermark)+1, min(len(j.rows), int(j.lane.Watermark)+50))
	}
	return run
}

func (k *keeper) edge(tb testing.TB) *journal {
	tb.Helper()
	j := newJournal(k.fleet.add(true))
	j.open(tb, k.record)
	return j
}

// archived reads all events of a run that are in archives, from the files alone.
func (k *keeper) archived(tb testing.TB, run id.Run) (events []runlog.StoredEvent) {
	tb.Helper()
	all, err := k.store.Archived(tb.Context(), run)
	for _, a := range all {
		err = errors.Join(err, k.dir.Read(a.File, func(_ archive.Header, e archive.Event) error {
			events = append(events, e.StoredEvent)
			return nil
		}))
	}
	if err != nil {
		tb.Fatal(err)
	}
	return events
}

// stored counts the events of a run in the table.
func (k *keeper) stored(tb testing.TB, run id.Run) (n int) {
	tb.Helper()
	if err := k.store.readDB.QueryRowContext(tb.Context(), `SELECT COUNT(*) FROM run_events WHERE run_id = $1`, string(run)).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// bytesAgree holds the count of bytes to the sum of what is there.
func (k *keeper) bytesAgree(tb testing.TB) {
	tb.Helper()
	var sum int64
	err := k.store.readDB.QueryRowContext(tb.Context(), `SELECT CAST(COALESCE(SUM(length(payload)), 0) AS BIGINT) FROM run_events`).Scan(&sum)
	kept, countErr := k.logs.Bytes(tb.Context())
	if err := errors.Join(err, countErr); err != nil || sum != kept {
		tb.Errorf("%d bytes of payloads are kept, the count is %d, %v", sum, kept, err)
	}
}

// gone fails unless the run's events are in archives up to floor, and cannot be read here.
func (k *keeper) gone(tb testing.TB, run id.Run, floor runlog.EventSeq) {
	tb.Helper()
	_, err := k.Runs.Events(tb.Context(), run, floor-1, 0)
	var expired *runlog.Expired
	if !errors.As(err, &expired) || expired.Floor != floor || fault.CodeOf(err) != fault.EventsExpired {
		tb.Errorf("%s from below %d: %v", run, floor, err)
	}
	if found := k.get(tb, run); found.Floor != floor {
		tb.Errorf("%s has floor %d, want %d", run, found.Floor, floor)
	}
}

func lines(run runlog.NewRun, view canonical.View, events []runlog.StoredEvent) string {
	var out []byte
	for _, e := range events {
		p := canonical.Projection{View: view, Agent: run.Agent, AgentChecksum: run.AgentChecksum}
		out = append(append(out, canonical.OneLine(p.Append(nil, e))...), '\n')
	}
	return string(out)
}
