package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
)

// errMoved undoes a request whose conversation is not any more as it was prepared for.
var errMoved = errors.New("the conversation has moved on")

// Orphan implements cardlog.Store.
func (c *Cards) Orphan(ctx context.Context, o cardlog.Orphan) (bool, error) {
	locks := append(lockSetOf(o.Session, o.Run), lockTrace(o.Session))
	err := c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.moveTimer(ctx, o.Timer, o.Next); err != nil {
			return err
		}
		unmoved, err := hasRow(tx.QueryRow(ctx, `SELECT 1 FROM conversation_counters WHERE session_id = $1 AND last_place = $2`,
			string(o.Session), o.Place))
		if err != nil {
			return fmt.Errorf("read head of %s: %w", o.Session, err)
		}
		head, err := tx.head(ctx, o.Run)
		if err != nil {
			return fmt.Errorf("read run: %w", err)
		}
		if !unmoved || head.State.Ended() {
			return errMoved
		}
		g, ok := head.Extend(head.Last, []runlog.Entry{o.Entry})
		if !ok {
			return errMoved
		}
		return tx.saveGrowth(ctx, noLane, g)
	})
	if errors.Is(err, errMoved) || errors.Is(err, timer.ErrTaken) {
		return false, nil
	}
	return err == nil, err
}

// Rearm implements cardlog.Store.
func (c *Cards) Rearm(ctx context.Context, at cardlog.Checkpoint, t timer.Timer, due time.Time) error {
	return c.writer.Do(ctx, []Lock{lockTrace(at.Session)}, func(ctx context.Context, tx *Tx) error {
		stands, err := hasRow(tx.QueryRow(ctx, `SELECT 1 FROM card_traces WHERE trace_id = $1 AND seq = $2 AND place = $3`,
			string(at.ID), int64(at.Head), at.Place)) //nolint:gosec // numbers of frames fit
		if err != nil {
			return fmt.Errorf("read trace %s: %w", at.ID, err)
		}
		if !stands {
			return cardlog.ErrTaken
		}
		if due.IsZero() {
			err = tx.claimTimer(ctx, t)
		} else {
			err = tx.moveTimer(ctx, t, due)
		}
		if errors.Is(err, timer.ErrTaken) {
			err = cardlog.ErrTaken
		}
		return err
	})
}
