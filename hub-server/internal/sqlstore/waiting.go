package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// WaitingRuns implements runlog.CommandStore.
func (r *Runlog) WaitingRuns(ctx context.Context, after id.Run, limit int) ([]runlog.NewRun, error) {
	const query = `
SELECT ` + runColumns + `, r.place_owner, r.place_edge, r.place_profile, r.place_runtime, r.dispatch FROM runs r
WHERE r.state = 'waiting_edge' AND ($1 = '' OR (r.created_at, r.run_id) > (SELECT created_at, run_id FROM runs WHERE run_id = $1))
ORDER BY r.created_at, r.run_id LIMIT $2`
	rows, err := r.store.readDB.QueryContext(ctx, query, string(after), limit)
	if err != nil {
		return nil, fmt.Errorf("read waiting runs: %w", err)
	}
	defer rows.Close()
	var found []runlog.NewRun
	for rows.Next() {
		var n runlog.NewRun
		var dispatch []byte
		p := &n.Placement
		if n.Run, err = scanRun(rows, &p.Owner, &p.Edge, &p.Profile, &p.Runtime, &dispatch); err != nil {
			return nil, fmt.Errorf("read waiting runs: %w", err)
		}
		n.Dispatch, p.By = dispatch, n.RequestedBy
		found = append(found, n)
	}
	return found, rows.Err()
}

// ClaimWaiting implements runlog.CommandStore. The conditional update decides between two edges, or two hubs.
func (r *Runlog) ClaimWaiting(ctx context.Context, ready []runlog.NewRun) error {
	var locks []Lock
	for _, n := range ready {
		locks = append(append(locks, runLocks(n)...), LockRun(string(n.ID)))
	}
	return r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		const claim = `UPDATE runs SET state = $2, edge_id = $3, lease = $4 WHERE run_id = $1 AND state = 'waiting_edge'`
		for _, n := range ready {
			changed, err := tx.Exec(ctx, claim, string(n.ID), string(run.StateDispatched), string(n.Edge), int64(n.Lease))
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
