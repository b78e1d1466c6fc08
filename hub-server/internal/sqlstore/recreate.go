package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// RecreateRun implements runlog.LaneStore. A run that it continues is named if it is there and nothing else continues it.
func (r *Runlog) RecreateRun(ctx context.Context, n runlog.NewRun) (done bool, err error) {
	locks := append(runLocks(n), LockRun(string(n.ID)))
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.recreateRun(ctx, n)
		return err
	})
	return err == nil && done, err
}

func (t *Tx) recreateRun(ctx context.Context, n runlog.NewRun) (bool, error) {
	var edge id.Edge
	err := t.QueryRow(ctx, `SELECT edge_id FROM runs WHERE run_id = $1`, string(n.ID)).Scan(&edge)
	if !errors.Is(err, sql.ErrNoRows) {
		return edge == n.Edge, err
	}
	known, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM conversation_counters WHERE session_id = $1`, string(n.Session)))
	if err != nil || !known {
		return false, err
	}
	if n.Continues != "" {
		const free = `
SELECT 1 FROM runs r WHERE r.run_id = $1 AND NOT EXISTS (SELECT 1 FROM runs s WHERE s.continues_run_id = r.run_id)`
		if known, err = hasRow(t.QueryRow(ctx, free, string(n.Continues))); err != nil {
			return false, err
		}
		if !known {
			n.Continues = ""
		}
	}
	return true, t.insertRun(ctx, n)
}

// KnownEvents implements runlog.LaneStore. A run whose log began in this very lane is not searched: all that it has of the edge is from here.
// Of one that was archived nobody knows where its log began, but ids have stayed.
func (r *Runlog) KnownEvents(
	ctx context.Context, lane runlog.LaneState, runID id.Run, events []id.Event,
) (map[id.Event]bool, error) {
	const lanes = `
SELECT COALESCE((SELECT e.lane_id FROM run_events e WHERE e.run_id = r.run_id AND e.lane_id IS NOT NULL ORDER BY e.event_seq LIMIT 1), 0),
    COALESCE((SELECT l.lane_id FROM lanes l WHERE l.edge_id = $2 AND l.incarnation = $3), 0), r.floor_seq > 0
FROM runs r WHERE r.run_id = $1`
	var first, own int64
	var archived bool
	err := r.store.readDB.QueryRowContext(ctx, lanes, string(runID), string(lane.Edge), string(lane.Incarnation)).Scan(&first, &own, &archived)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !archived && (first == own || first == 0) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read lane of %s: %w", runID, err)
	}
	var asked conditions
	run := asked.arg(string(runID))
	among := make([]string, len(events))
	for i, e := range events {
		among[i] = asked.arg(string(e))
	}
	these := `.event_id IN (` + strings.Join(among, ", ") + `)`
	query := `
SELECT e.event_id FROM run_events e JOIN lanes l ON l.lane_id = e.lane_id
WHERE e.run_id = ` + run + ` AND e.lane_id <> ` + asked.arg(own) + ` AND l.edge_id = ` + asked.arg(string(lane.Edge)) + ` AND e` + these
	if archived {
		query += ` UNION SELECT a.event_id FROM archived_events a WHERE a.run_id = ` + run + ` AND a` + these
	}
	rows, err := r.store.readDB.QueryContext(ctx, query, asked.args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	known := map[id.Event]bool{}
	for rows.Next() {
		var e id.Event
		if err := rows.Scan(&e); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		known[e] = true
	}
	return known, rows.Err()
}
