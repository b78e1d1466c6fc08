package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// errFenceLost means that another connection has taken the lane between two steps of opening it.
var errFenceLost = errors.New("another connection has taken the lane")

// OpenLane implements runlog.LaneStore.
func (r *Runlog) OpenLane(ctx context.Context, edge id.Edge, hello wire.Hello) (runlog.LaneState, bool, error) {
	var lane runlog.LaneState
	var fresh bool
	laneID := randomKey()
	err := r.writer.Do(ctx, []Lock{LockLane(string(edge))}, func(ctx context.Context, tx *Tx) (err error) {
		if lane, fresh, err = tx.openLane(ctx, laneID, edge, hello); err != nil {
			return err
		}
		return tx.holdLane(ctx, lane, r.me)
	})
	if err != nil {
		return runlog.LaneState{}, false, fmt.Errorf("open lane: %w", err)
	}
	lane.Epoch = r.store.Epoch()
	return lane, fresh, nil
}

func (t *Tx) openLane(ctx context.Context, newID int64, edge id.Edge, hello wire.Hello) (lane runlog.LaneState, fresh bool, err error) {
	lane = runlog.LaneState{Edge: edge, Incarnation: hello.Incarnation}
	const known = `SELECT lane_id, watermark, chain FROM lanes WHERE edge_id = $1 AND incarnation = $2`
	laneID, chain := newID, lane.Chain[:]
	err = t.QueryRow(ctx, known, string(edge), string(hello.Incarnation)).Scan(&laneID, &lane.Watermark, &chain)
	if errors.Is(err, sql.ErrNoRows) {
		fresh, err = t.insertLane(ctx, newID, lane)
	}
	if err != nil {
		return lane, false, err
	}
	const others = `SELECT 1 FROM lanes WHERE edge_id = $1 AND incarnation <> $2 LIMIT 1`
	if lane.Successor, err = hasRow(t.QueryRow(ctx, others, string(edge), string(hello.Incarnation))); err != nil {
		return lane, false, err
	}
	copy(lane.Chain[:], chain)
	const take = `
INSERT INTO lane_fences (edge_id, fence, lane_id, boot_nonce, taken_at) VALUES ($1, 1, $2, $3, $4)
ON CONFLICT (edge_id) DO UPDATE SET fence = lane_fences.fence + 1, lane_id = excluded.lane_id,
    boot_nonce = excluded.boot_nonce, taken_at = excluded.taken_at
RETURNING fence`
	err = t.QueryRow(ctx, take, string(edge), laneID, string(hello.BootNonce), micros(t.now)).Scan(&lane.Fence)
	return lane, fresh, err
}

// holdLane notes at which hub process the lane was taken.
func (t *Tx) holdLane(ctx context.Context, lane runlog.LaneState, hub peer.ID) error {
	const hold = `UPDATE lane_fences SET hub_id = $2, held_fence = fence WHERE edge_id = $1`
	if _, err := t.Exec(ctx, hold, string(lane.Edge), string(hub)); err != nil {
		return fmt.Errorf("note who holds the lane: %w", err)
	}
	return nil
}

// Holder implements runlog.LaneStore. Where a lane was taken that a hub of before has taken is not known: not elsewhere.
func (r *Runlog) Holder(ctx context.Context, edge id.Edge) (now runlog.Holder, err error) {
	const query = `
SELECT f.fence, f.boot_nonce, EXISTS (SELECT 1 FROM hubs h WHERE h.hub_id = f.hub_id AND h.hub_id <> $2 AND f.held_fence = f.fence)
FROM lane_fences f WHERE f.edge_id = $1`
	err = r.store.readDB.QueryRowContext(ctx, query, string(edge), string(r.me)).Scan(&now.Fence, &now.Boot, &now.Elsewhere)
	if errors.Is(err, sql.ErrNoRows) {
		return runlog.Holder{}, nil
	}
	if err != nil {
		return runlog.Holder{}, fmt.Errorf("read who has the lane of %s: %w", edge, err)
	}
	return now, nil
}

// insertLane says whether the edge has had another lane before.
func (t *Tx) insertLane(ctx context.Context, laneID int64, lane runlog.LaneState) (fresh bool, err error) {
	fresh, err = hasRow(t.QueryRow(ctx, `SELECT 1 FROM lanes WHERE edge_id = $1 LIMIT 1`, string(lane.Edge)))
	if err != nil {
		return false, err
	}
	const insert = `INSERT INTO lanes (lane_id, edge_id, incarnation, watermark, chain, opened_at) VALUES ($1, $2, $3, 0, $4, $5)`
	_, err = t.Exec(ctx, insert, laneID, string(lane.Edge), string(lane.Incarnation), lane.Chain[:], micros(t.now))
	return fresh, err
}

// laneNow is a lane as the store has it within a transaction.
type laneNow struct {
	runlog.LaneNow
	id int64
}

func (t *Tx) lane(ctx context.Context, held runlog.LaneState) (laneNow, error) {
	const query = `
SELECT l.lane_id, l.watermark, l.chain, f.fence, f.lane_id FROM lanes l JOIN lane_fences f ON f.edge_id = l.edge_id
WHERE l.edge_id = $1 AND l.incarnation = $2`
	var now laneNow
	var chain []byte
	var fence runlog.Fence
	var fencedLane int64
	err := t.QueryRow(ctx, query, string(held.Edge), string(held.Incarnation)).Scan(&now.id, &now.Watermark, &chain, &fence, &fencedLane)
	if err != nil {
		return laneNow{}, fmt.Errorf("read lane: %w", err)
	}
	copy(now.Chain[:], chain)
	now.Held = fence == held.Fence && fencedLane == now.id
	return now, nil
}

func (t *Tx) moveLane(ctx context.Context, laneID int64, to wire.ProducerSeq, chain wire.Chain) error {
	_, err := t.Exec(ctx, `UPDATE lanes SET watermark = $2, chain = $3 WHERE lane_id = $1`, laneID, int64(to), chain[:])
	if err != nil {
		return fmt.Errorf("move lane: %w", err)
	}
	return nil
}

// RecordGap implements runlog.LaneStore.
func (r *Runlog) RecordGap(ctx context.Context, held runlog.LaneState, gap runlog.Gap) error {
	open, err := r.OpenRuns(ctx, held.Edge)
	if err != nil {
		return err
	}
	locks := []Lock{LockLane(string(held.Edge))}
	for _, concerned := range open {
		locks = append(locks, lockSetOf(concerned.Session, concerned.ID)...)
	}
	return r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		lane, err := tx.lane(ctx, held)
		if err != nil {
			return err
		}
		if !lane.Held || lane.Watermark != held.Watermark {
			return errFenceLost
		}
		const insert = `INSERT INTO lane_gaps (lane_id, from_seq, to_seq, recorded_at) VALUES ($1, $2, $3, $4)`
		if _, err := tx.Exec(ctx, insert, lane.id, int64(gap.From), int64(gap.To), micros(tx.now)); err != nil {
			return fmt.Errorf("insert gap: %w", err)
		}
		for _, concerned := range open {
			if err := tx.appendGap(ctx, concerned.ID, gap.Entry); err != nil {
				return err
			}
		}
		return tx.moveLane(ctx, lane.id, gap.To, gap.Chain)
	})
}

func (t *Tx) appendGap(ctx context.Context, runID id.Run, e runlog.Entry) error {
	head, err := t.head(ctx, runID)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if head.State.Ended() {
		return nil
	}
	e.ID = id.NewEvent() // one fact per run
	g := head.Grow()
	g.Append(e)
	return t.saveGrowth(ctx, noLane, g)
}
