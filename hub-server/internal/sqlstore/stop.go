package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Cancel implements runlog.CommandStore.
func (r *Runlog) Cancel(ctx context.Context, c runlog.Cancellation) (bool, error) {
	found, err := r.Run(ctx, c.Run)
	if err != nil {
		return false, err
	}
	locks := lockSetOf(found.Session, c.Run)
	if c.Edge != "" {
		locks = append(locks, LockLane(string(c.Edge)))
	}
	var done bool
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.cancelRun(ctx, c)
		return err
	})
	return err == nil && done, err
}

func (t *Tx) cancelRun(ctx context.Context, c runlog.Cancellation) (bool, error) {
	head, err := t.head(ctx, c.Run)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	switch {
	case c.Anyway(head):
		return true, t.stopAnyway(ctx, c)
	case !c.Meets(head):
		return false, nil
	}
	unheard := c.Unheard(head)
	if !unheard {
		const withdraw = `UPDATE edge_commands SET state = 'withdrawn' WHERE run_id = $1 AND kind = 'start' AND state = 'pending'`
		n, err := t.Exec(ctx, withdraw, string(c.Run))
		if err != nil {
			return false, fmt.Errorf("withdraw start: %w", err)
		}
		unheard = n > 0
	}
	if c.IfUnheard && !unheard {
		return true, nil
	}
	if err := t.withdrawAnswers(ctx, c.Run); err != nil {
		return false, err
	}
	t.Audit(audit.Entry{Act: audit.RunCancelled, User: c.By, Target: string(c.Run)})
	if !unheard {
		if err := t.insertCommand(ctx, c.Edge, c.Command); err != nil {
			return false, err
		}
	}
	return true, t.saveGrowth(ctx, noLane, c.Apply(head, unheard))
}

// withdrawAnswers takes back what an edge would still have to tell the agent of a run that is to stop: it might act on it. What may have left is
// dropped: nobody waits for its receipt, and nobody may be told that the agent does not have it.
func (t *Tx) withdrawAnswers(ctx context.Context, runID id.Run) error {
	const withdraw = `
UPDATE edge_commands SET state = CASE state WHEN 'sent' THEN 'dropped' ELSE 'withdrawn' END
WHERE run_id = $1 AND kind IN ('answer', 'control') AND state IN ('pending', 'sent')`
	if _, err := t.Exec(ctx, withdraw, string(runID)); err != nil {
		return fmt.Errorf("withdraw answers: %w", err)
	}
	return nil
}

// stopAnyway tells the edge of an interrupted run to end what it may still work on, once.
func (t *Tx) stopAnyway(ctx context.Context, c runlog.Cancellation) error {
	const ordered = `SELECT 1 FROM edge_commands WHERE run_id = $1 AND kind = 'cancel' LIMIT 1`
	known, err := hasRow(t.QueryRow(ctx, ordered, string(c.Run)))
	switch {
	case err != nil:
		return fmt.Errorf("look for cancel: %w", err)
	case known || c.Edge == "":
		return nil
	}
	if err := t.withdrawAnswers(ctx, c.Run); err != nil {
		return err
	}
	t.Audit(audit.Entry{Act: audit.RunCancelled, User: c.By, Target: string(c.Run)})
	return t.insertCommand(ctx, c.Edge, c.Command)
}

// Force implements runlog.CommandStore.
func (r *Runlog) Force(ctx context.Context, f runlog.Forcing) (bool, error) {
	found, err := r.Run(ctx, f.Run)
	if err != nil {
		return false, err
	}
	var done bool
	err = r.writer.Do(ctx, lockSetOf(found.Session, f.Run), func(ctx context.Context, tx *Tx) (err error) {
		if done, err = tx.appendOwn(ctx, f.Run, f.Last, f.Ended); done {
			tx.Audit(audit.Entry{Act: audit.RunForced, User: f.By, Target: string(f.Run)})
		}
		return err
	})
	return err == nil && done, err
}
