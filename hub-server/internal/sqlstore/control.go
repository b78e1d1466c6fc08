package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ActiveRuns implements runlog.RunStore.
func (r *Runlog) ActiveRuns(ctx context.Context, s id.Session) ([]runlog.Run, error) {
	const query = `SELECT ` + runColumns + ` FROM runs r WHERE r.session_id = $1 AND r.ended_at = 0 ORDER BY r.created_at, r.run_id`
	return scanRuns(r.store.readDB.QueryContext(ctx, query, string(s)))
}

// idle says that no run of the conversation is at work or waits: one that does is in the way of another.
func (t *Tx) idle(ctx context.Context, s id.Session) error {
	busy, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM runs WHERE session_id = $1 AND ended_at = 0 LIMIT 1`, string(s)))
	if err != nil {
		return fmt.Errorf("look for runs at work: %w", err)
	}
	if busy {
		return fault.New(fault.TaskInProgress, "A task is at work in this conversation. Wait for its end, steer it, or send yours with queueIfBusy: the same agent does it afterwards, another one beside it.")
	}
	return nil
}

// Order implements runlog.CommandStore.
func (r *Runlog) Order(ctx context.Context, o runlog.Order) (done bool, err error) {
	locks := append(lockSetOf(o.Run.Session, o.Run.ID), LockLane(string(o.Run.Edge)))
	if o.Claim != nil {
		locks = append(locks, lockAttempt(o.Claim.Attempt))
	}
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.order(ctx, o)
		return err
	})
	return err == nil && done, err
}

func (t *Tx) order(ctx context.Context, o runlog.Order) (bool, error) {
	if err := t.maySteer(ctx, o.By, o.Run); err != nil {
		return false, err
	}
	head, err := t.head(ctx, o.Run.ID)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	if !o.Meets(head) {
		return false, nil
	}
	if o.Compacts {
		if err := t.compactsOnce(ctx, o); err != nil {
			return false, err
		}
	}
	if o.Claim != nil {
		if err := t.claim(ctx, *o.Claim); err != nil {
			return false, err
		}
	}
	if err := t.insertCommand(ctx, o.Run.Edge, o.Command); err != nil {
		return false, err
	}
	if o.Fact == nil {
		return true, nil
	}
	const name = `UPDATE edge_commands SET steer_id = $2 WHERE delivery_id = $1`
	if _, err := t.Exec(ctx, name, string(o.Command.DeliveryID), string(o.Steer)); err != nil {
		return false, fmt.Errorf("name command: %w", err)
	}
	return true, t.appendFact(ctx, head, *o.Fact)
}

func (t *Tx) appendFact(ctx context.Context, head runlog.Head, fact runlog.Entry) error {
	g := head.Grow()
	g.Append(fact)
	return t.saveGrowth(ctx, noLane, g)
}

// maySteer says once more, inside the transaction, that a person is in the conversation of a run and may operate its agent.
func (t *Tx) maySteer(ctx context.Context, by id.User, r runlog.Run) error {
	if err := t.mayPost(ctx, r.Session, by); err != nil {
		return err
	}
	may, err := t.mayAnswer(ctx, by, r.ID)
	if err != nil {
		return fmt.Errorf("check right to operate: %w", err)
	}
	if !may {
		return fleet.OperateRequired(r.AgentName)
	}
	return nil
}

// Steered implements runlog.CommandStore.
func (r *Runlog) Steered(ctx context.Context, s id.Session, steer id.Steer) (found runlog.Run, sent, taken bool, err error) {
	const query = `SELECT ` + runColumns + `, c.state FROM edge_commands c JOIN runs r ON r.run_id = c.run_id
WHERE c.steer_id = $2 AND c.steer_id <> '' AND r.session_id = $1`
	var state string
	found, err = scanRun(r.store.readDB.QueryRowContext(ctx, query, string(s), string(steer)), &state)
	if errors.Is(err, sql.ErrNoRows) {
		return found, false, false, fault.New(fault.NotFound, "Nothing of that id was said in this conversation.")
	}
	if err != nil {
		return found, false, false, fmt.Errorf("read steer: %w", err)
	}
	return found, state == "sent" || state == "done" || state == "dropped", state == "withdrawn", nil
}

// TakeBack implements runlog.CommandStore. The conditional update decides between it and whoever is about to send the command.
func (r *Runlog) TakeBack(ctx context.Context, by id.User, run runlog.Run, steer id.Steer, fact runlog.Entry) (done bool, err error) {
	locks := append(lockSetOf(run.Session, run.ID), LockLane(string(run.Edge)))
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.maySteer(ctx, by, run); err != nil {
			return err
		}
		const withdraw = `UPDATE edge_commands SET state = 'withdrawn' WHERE steer_id = $1 AND run_id = $2 AND state = 'pending'`
		n, err := tx.Exec(ctx, withdraw, string(steer), string(run.ID))
		if err != nil {
			return fmt.Errorf("withdraw steer: %w", err)
		}
		if done = n > 0; !done {
			return nil
		}
		return tx.unsteer(ctx, run.ID, fact)
	})
	return err == nil && done, err
}

// unsteer notes in the log of a run that is not over that something said to it is void.
func (t *Tx) unsteer(ctx context.Context, runID id.Run, fact runlog.Entry) error {
	head, err := t.head(ctx, runID)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if head.State.Ended() {
		return nil
	}
	return t.appendFact(ctx, head, fact)
}

// CloseSteer implements runlog.CommandStore.
func (r *Runlog) CloseSteer(ctx context.Context, edge id.Edge, receipt wire.CommandReceipt, fact runlog.Entry) error {
	c, open, err := r.Command(ctx, edge, receipt.DeliveryID)
	if err != nil || !open {
		return err
	}
	found, err := r.Run(ctx, c.RunID)
	if err != nil {
		return err
	}
	locks := append(lockSetOf(found.Session, found.ID), LockLane(string(edge)))
	return r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		closed, err := tx.finishCommand(ctx, edge, receipt)
		if err != nil || !closed {
			return err
		}
		return tx.unsteer(ctx, c.RunID, fact)
	})
}
