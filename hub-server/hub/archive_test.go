package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const (
	firstRun  = "run_00000000000000a1"
	secondRun = "run_00000000000000a2"
)

// withArchives is a home in which two runs of two events each have left.
func withArchives(t *testing.T) Config {
	t.Helper()
	config := homeIn(t, t.TempDir())
	store, err := OpenStore(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	writer := store.NewWriter(log, telemetry.NewRegistry("hub"), func(sqlstore.Committed) {})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- writer.Run(ctx) }()
	err = writer.Do(t.Context(), nil, func(ctx context.Context, tx *sqlstore.Tx) error {
		tx.Emit(delivery.Row{Audience: "user:u", Kind: delivery.KindFrame, FrameType: "typing", Payload: []byte(`{}`)})
		return errors.Join(endedRun(ctx, tx, firstRun), endedRun(ctx, tx, secondRun))
	})
	if err == nil {
		_, _, err = sqlstore.NewOutboxTrim(writer).Trim(t.Context(), time.Now().Add(time.Hour), 10)
	}
	if err == nil {
		a := retention.NewArchiver(sqlstore.NewArchives(store, writer, "hub"), nil, archive.Dir(config.ArchiveDir),
			retention.Policy{Age: 100 * time.Hour}, log, telemetry.NewRegistry("hub"))
		err = a.Pass(t.Context(), time.Now())
	}
	stop()
	if err := errors.Join(err, <-done, store.Close()); err != nil {
		t.Fatal(err)
	}
	return config
}

// endedRun is a run that ended in 1970.
func endedRun(ctx context.Context, tx *sqlstore.Tx, run string) error {
	const insert = `
INSERT INTO runs (run_id, parent_run_id, root_run_id, session_id, agent_id, agent_name, agent_checksum, edge_id, lease, trigger_id,
    requested_by, trace_id, place_owner, place_edge, place_profile, place_runtime, dispatch, state, last_event_seq, error_code,
    error_message, error_retryable, said_id, said, final_message, created_at, started_at, ended_at)
VALUES ($1, '', $1, 's', 'agent_x', 'scout', 'ab', '', 1, '', 'u', 't', '', '', '', '', '{}', 'completed', 2, '', '', FALSE, '', '', '', 1, 1, 2)`
	_, err := tx.Exec(ctx, insert, run)
	const event = `
INSERT INTO run_events (run_id, event_seq, place, event_id, event_type, wire_type, occurred_at, recorded_at, payload, payload_checksum,
    schema_version, trace_id, span_id, late)
VALUES ($1, $2, $2, 'evt_1', $3, $3, 1, 2, $4, 'cd', 1, '4b', '', FALSE)`
	for i, name := range []string{"run.started", "run.completed"} {
		_, eventErr := tx.Exec(ctx, event, run, i+1, name, fmt.Appendf(nil, "{\n\"n\": %d.0}", i+1))
		err = errors.Join(err, eventErr)
	}
	return err
}

func show(t *testing.T, c Config, run, view string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := ShowArchive(t.Context(), c, run, view, &out)
	return out.String(), err
}

func TestArchivesAreListedCheckedAndShown(t *testing.T) {
	config := withArchives(t)
	var list bytes.Buffer
	if err := ListArchives(t.Context(), config, &list); err != nil || strings.Count(list.String(), "\n") != 2 {
		t.Fatalf("listed %s, %v", &list, err)
	}
	var first archiveLine
	if err := json.NewDecoder(&list).Decode(&first); err != nil || first.Run != firstRun || first.From != 1 || first.To != 2 || first.Bytes != 22 {
		t.Errorf("the first is %+v, %v", first, err)
	}
	if v, err := VerifyArchives(t.Context(), config); err != nil || v.Archives != 2 || v.Events != 4 || len(v.Faults) != 0 {
		t.Errorf("verified %+v, %v", v, err)
	}
	// As GET /api/agent-runs/{run_id}/events shows them.
	const want = `{"run_id":"run_00000000000000a1","seq":1,"event_type":"run.started","occurred_at":"1970-01-01T00:00:00.000001Z","payload":{ "n": 1.0}}
{"run_id":"run_00000000000000a1","seq":2,"event_type":"run.completed","occurred_at":"1970-01-01T00:00:00.000001Z","payload":{ "n": 2.0}}
`
	if got, err := show(t, config, firstRun, "lean"); err != nil || got != want {
		t.Errorf("shown %s, %v", got, err)
	}
	if got, err := show(t, config, firstRun, "full"); err != nil || !strings.Contains(got, `"agent_snapshot_checksum":"ab","payload_checksum":"cd"`) {
		t.Errorf("in full %s, %v", got, err)
	}
	for _, run := range []string{"run_00000000000000a3", "x"} {
		if got, err := show(t, config, run, ""); err == nil || got != "" {
			t.Errorf("%s: shown %q, %v", run, got, err)
		}
	}
}

func TestAnArchiveThatWasChangedLostOrExchangedIsFound(t *testing.T) {
	config := withArchives(t)
	files, err := filepath.Glob(filepath.Join(config.ArchiveDir, firstRun+"*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(strings.ReplaceAll(files[0], firstRun, secondRun))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(whole)
	changed[len(changed)/2] ^= 1
	for name, data := range map[string][]byte{"changed": changed, "cut off": whole[:len(whole)-9], "of another run": other, "empty": {}} {
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		foundOut(t, config, name, filepath.Base(files[0]))
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	foundOut(t, config, "lost", filepath.Base(files[0]))
}

func foundOut(t *testing.T, config Config, name, file string) {
	t.Helper()
	v, err := VerifyArchives(t.Context(), config)
	if err != nil || v.Archives != 1 || len(v.Faults) != 1 || !strings.Contains(v.Faults[0].Error(), file) {
		t.Errorf("%s: verified %+v, %v", name, v, err)
	}
	if got, err := show(t, config, firstRun, ""); err == nil || got != "" {
		t.Errorf("%s: shown %q, %v", name, got, err)
	}
}
