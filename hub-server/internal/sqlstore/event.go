package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Events implements runlog.EventStore. The newest number is read first: a log only grows, so the page is part of what there was then.
func (r *Runlog) Events(
	ctx context.Context, runID id.Run, after runlog.EventSeq, limit int,
) (events []runlog.StoredEvent, last runlog.EventSeq, err error) {
	last, err = r.store.endOfLog(ctx, runID, after)
	if err != nil || after >= last {
		return nil, last, err
	}
	events, err = r.EventsUpTo(ctx, runID, after, min(last, after+runlog.EventSeq(limit))) //nolint:gosec // limits of pages are positive
	return events, last, err
}

// EventsUpTo implements runlog.EventStore. Numbers have no holes, so the page is a range of them: with a LIMIT instead, PostgreSQL may sort all
// of a long log for its first page.
func (r *Runlog) EventsUpTo(ctx context.Context, runID id.Run, after, upTo runlog.EventSeq) (events []runlog.StoredEvent, err error) {
	rows, err := r.store.queryPrepared(ctx, selectEvents, string(runID), int64(after), int64(upTo))
	events, err = collect(rows, err, scanEvent)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	if len(events) < int(upTo-after) { //nolint:gosec // the size of a page
		// They may have left, even meanwhile: the floor moves before the first of them goes.
		if _, err = r.store.endOfLog(ctx, runID, after); err != nil {
			return nil, err
		}
	}
	return events, nil
}

const eventColumns = `e.event_id, e.run_id, e.event_seq, e.event_type, e.wire_type, e.occurred_at, e.recorded_at, e.payload, e.payload_checksum,
    e.schema_version, e.trace_id, e.span_id, e.late, COALESCE(l.edge_id, ''), COALESCE(e.producer_seq, 0), e.place`

const selectEvents = `SELECT ` + eventColumns + `
FROM run_events e LEFT JOIN lanes l ON l.lane_id = e.lane_id
WHERE e.run_id = $1 AND e.event_seq > $2 AND e.event_seq <= $3 ORDER BY e.event_seq`

// endOfLog returns the number of a run's newest event, and *runlog.Expired if what comes after a number is not all there.
func (s *Store) endOfLog(ctx context.Context, runID id.Run, after runlog.EventSeq) (last runlog.EventSeq, err error) {
	var floor runlog.EventSeq
	const query = `SELECT last_event_seq, floor_seq FROM runs WHERE run_id = $1`
	err = s.queryRowPrepared(ctx, query, string(runID)).Scan(&last, &floor)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, noSuchRun()
	case err != nil:
		return 0, fmt.Errorf("read end of log: %w", err)
	case after < floor:
		return 0, runlog.NewExpired(runID, floor)
	}
	return last, nil
}

// scanEvent reads eventColumns.
func scanEvent(row Scanner) (runlog.StoredEvent, error) {
	e, err := scanPlaced(row)
	return e.StoredEvent, err
}

func scanPlaced(row Scanner) (e archive.Event, err error) {
	var occurred, recorded int64
	var payload []byte
	err = row.Scan(&e.ID, &e.Run, &e.Seq, &e.Type, &e.WireType, &occurred, &recorded, &payload, &e.Checksum,
		&e.Schema, &e.TraceID, &e.SpanID, &e.Late, &e.Edge, &e.ProducerSeq, &e.Place)
	e.OccurredAt, e.RecordedAt, e.Payload = fromMicros(occurred), fromMicros(recorded), payload
	if err == nil && e.Schema > runlog.SchemaVersion {
		return e, fmt.Errorf("event %d of %s has format %d, this hub reads up to %d", e.Seq, e.Run, e.Schema, runlog.SchemaVersion)
	}
	return e, err
}

// insertArtifacts lists what a run made. An id that is taken is the edge's mistake, or its malice: the first one stays.
func (t *Tx) insertArtifacts(ctx context.Context, made []runlog.Artifact) error {
	const insert = `
INSERT INTO artifacts (artifact_id, run_id, event_seq, filename, content_type, size, sha256, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (artifact_id) DO NOTHING`
	for _, a := range made {
		_, err := t.Exec(ctx, insert, string(a.ID), string(a.Run), int64(a.Seq), a.Filename, a.ContentType, a.Size, string(a.Blob),
			micros(a.CreatedAt))
		if err != nil {
			return err
		}
	}
	return nil
}

const artifactColumns = `artifact_id, run_id, event_seq, filename, content_type, size, sha256, created_at`

func scanArtifact(row Scanner) (runlog.Artifact, error) {
	var a runlog.Artifact
	var created int64
	err := row.Scan(&a.ID, &a.Run, &a.Seq, &a.Filename, &a.ContentType, &a.Size, &a.Blob, &created)
	a.CreatedAt = fromMicros(created)
	return a, err
}

// Artifacts implements runlog.EventStore.
func (r *Runlog) Artifacts(ctx context.Context, runID id.Run) ([]runlog.Artifact, error) {
	const query = `SELECT ` + artifactColumns + ` FROM artifacts WHERE run_id = $1 ORDER BY event_seq`
	rows, err := r.store.readDB.QueryContext(ctx, query, string(runID))
	if err != nil {
		return nil, fmt.Errorf("read artifacts: %w", err)
	}
	defer rows.Close()
	var found []runlog.Artifact
	for rows.Next() {
		a, err := scanArtifact(rows)
		if err != nil {
			return nil, fmt.Errorf("read artifacts: %w", err)
		}
		found = append(found, a)
	}
	return found, rows.Err()
}

// Artifact implements runlog.EventStore.
func (r *Runlog) Artifact(ctx context.Context, artifact id.Artifact) (runlog.Artifact, error) {
	const query = `SELECT ` + artifactColumns + ` FROM artifacts WHERE artifact_id = $1`
	a, err := scanArtifact(r.store.readDB.QueryRowContext(ctx, query, string(artifact)))
	if errors.Is(err, sql.ErrNoRows) {
		return runlog.Artifact{}, fault.New(fault.NotFound, "There is no such artifact.")
	}
	if err != nil {
		return runlog.Artifact{}, fmt.Errorf("read artifact: %w", err)
	}
	return a, nil
}
