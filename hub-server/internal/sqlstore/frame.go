package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// CommitFrame implements runlog.LaneStore: fence, watermark, the rows of each run, quarantine, watermark (architecture 7).
func (r *Runlog) CommitFrame(ctx context.Context, f runlog.LaneFrame) (runlog.LaneResult, error) {
	locks, err := r.frameLocks(ctx, f)
	if err != nil {
		return runlog.LaneResult{}, err
	}
	var res runlog.LaneResult
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		res, err = tx.commitFrame(ctx, f)
		return err
	})
	if err != nil {
		return runlog.LaneResult{}, fmt.Errorf("commit frame: %w", err)
	}
	return res, nil
}

// frameLocks looks up the conversations of the runs; a run never changes its conversation.
func (r *Runlog) frameLocks(ctx context.Context, f runlog.LaneFrame) ([]Lock, error) {
	locks := []Lock{LockLane(string(f.Lane.Edge))}
	if !r.store.dialect.advisory {
		return locks, nil
	}
	rows, err := r.store.readDB.QueryContext(ctx, `SELECT run_id, session_id FROM runs WHERE run_id = ANY($1::text[])`, f.Runs())
	err = scanAll(rows, err, func(row Scanner) error {
		var runID id.Run
		var session id.Session
		err := row.Scan(&runID, &session)
		locks = append(locks, lockSetOf(session, runID)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find conversations: %w", err)
	}
	return locks, nil
}

func (t *Tx) commitFrame(ctx context.Context, f runlog.LaneFrame) (runlog.LaneResult, error) {
	lane, err := t.lane(ctx, f.Lane)
	if err != nil {
		return runlog.LaneResult{}, err
	}
	res, ok := f.Meets(lane.LaneNow)
	if !ok {
		return res, nil
	}
	heads, err := t.heads(ctx, f.Runs())
	if err != nil {
		return runlog.LaneResult{}, err
	}
	if strange := f.Strange(heads); len(strange) > 0 {
		return runlog.LaneResult{Watermark: lane.Watermark, Chain: lane.Chain, Strange: strange}, nil
	}
	grown, refused := f.Apply(heads)
	// In the order of conversations, so that two hubs take their counters in one order too.
	slices.SortStableFunc(grown, func(a, b *runlog.Growth) int { return cmp.Compare(a.Session, b.Session) })
	for _, g := range grown {
		res.Events += len(g.Events)
	}
	if err := t.saveGrowth(ctx, lane.id, grown...); err != nil {
		return runlog.LaneResult{}, err
	}
	for _, row := range refused {
		res.Refused = append(res.Refused, row.Code)
		if err := t.quarantine(ctx, lane.id, row); err != nil {
			return runlog.LaneResult{}, err
		}
	}
	return res, t.moveLane(ctx, lane.id, f.Last(), f.Chain)
}

func (t *Tx) quarantine(ctx context.Context, laneID int64, r runlog.Refusal) error {
	const insert = `INSERT INTO quarantine (lane_id, producer_seq, run_id, code, row_bytes, recorded_at) VALUES ($1, $2, $3, $4, $5, $6)`
	_, err := t.Exec(ctx, insert, laneID, int64(r.Seq), string(r.Run), string(r.Code), r.Raw, micros(t.now))
	if err != nil {
		return fmt.Errorf("quarantine row %d: %w", r.Seq, err)
	}
	return nil
}
