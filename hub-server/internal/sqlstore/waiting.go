package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

const preparedColumns = runColumns + `, r.place_owner, r.place_edge, r.place_profile, r.place_runtime, r.place_needs, r.approval_mode, r.dispatch`

// scanPrepared reads a run with what it takes to dispatch it.
func scanPrepared(row Scanner) (n runlog.NewRun, err error) {
	var dispatch []byte
	p := &n.Placement
	n.Run, err = scanRun(row, &p.Owner, &p.Edge, &p.Profile, &p.Runtime, &p.Needs, &p.Mode, &dispatch)
	n.Dispatch, p.By = dispatch, n.RequestedBy
	return n, err
}

// WaitingRuns implements runlog.CommandStore.
func (r *Runlog) WaitingRuns(ctx context.Context, after id.Run, limit int) ([]runlog.NewRun, error) {
	const query = `
SELECT ` + preparedColumns + ` FROM runs r
WHERE r.state = 'waiting_edge' AND ($1 = '' OR (r.created_at, r.run_id) > (SELECT created_at, run_id FROM runs WHERE run_id = $1))
ORDER BY r.created_at, r.run_id LIMIT $2`
	rows, err := r.store.readDB.QueryContext(ctx, query, string(after), limit)
	if err != nil {
		return nil, fmt.Errorf("read waiting runs: %w", err)
	}
	defer rows.Close()
	var found []runlog.NewRun
	for rows.Next() {
		n, err := scanPrepared(rows)
		if err != nil {
			return nil, fmt.Errorf("read waiting runs: %w", err)
		}
		found = append(found, n)
	}
	return found, rows.Err()
}

// ClaimWaiting implements runlog.CommandStore. The conditional update decides between two edges, or two hubs, and leaves a run for the next time whose
// person has chosen another mode meanwhile.
func (r *Runlog) ClaimWaiting(ctx context.Context, ready []runlog.NewRun) error {
	var locks []Lock
	for _, n := range ready {
		locks = append(append(locks, runLocks(n)...), LockRun(string(n.ID)))
	}
	return r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		const claim = `UPDATE runs SET state = $2, edge_id = $3, lease = $4 WHERE run_id = $1 AND state = 'waiting_edge' AND approval_mode = $5`
		for _, n := range ready {
			changed, err := tx.Exec(ctx, claim, string(n.ID), string(run.StateDispatched), string(n.Edge), int64(n.Lease),
				string(n.Placement.Mode))
			if err != nil {
				return fmt.Errorf("claim run: %w", err)
			}
			if changed == 0 {
				continue
			}
			tx.emitDispatch(n)
			if err := tx.insertCommand(ctx, n.Edge, *n.Command); err != nil {
				return err
			}
		}
		return nil
	})
}

// Dispatched implements runlog.SuccessionStore.
func (r *Runlog) Dispatched(ctx context.Context, runID id.Run) (runlog.NewRun, error) {
	n, err := scanPrepared(r.store.readDB.QueryRowContext(ctx, `SELECT `+preparedColumns+` FROM runs r WHERE r.run_id = $1`, string(runID)))
	if errors.Is(err, sql.ErrNoRows) {
		return n, noSuchRun()
	}
	if err != nil {
		return n, fmt.Errorf("read run: %w", err)
	}
	return n, nil
}

// AbandonedRuns implements runlog.SuccessionStore.
func (r *Runlog) AbandonedRuns(ctx context.Context) ([]runlog.Run, error) {
	const query = `SELECT ` + runColumns + ` FROM runs r WHERE r.process_ended_at > 0 AND r.ended_at = 0`
	return scanRuns(r.store.readDB.QueryContext(ctx, query))
}
