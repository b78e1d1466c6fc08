package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// A command is pending until a hub is about to send it, then sent until its edge answers, then done. A start that no hub was about to
// send can be withdrawn.

// insertCommand queues a signed command behind all others of its edge, and wakes the edge. Its place is taken under LockLane.
func (t *Tx) insertCommand(ctx context.Context, edge id.Edge, c wire.Command) error {
	const insert = `
INSERT INTO edge_commands (delivery_id, edge_id, place, run_id, kind, lease, body, signature, state, receipt_status, receipt_code,
    receipt_detail, created_at, receipt_at)
VALUES ($1, $2, (SELECT 1 + COALESCE(MAX(place), 0) FROM edge_commands WHERE edge_id = $2), $3, $4, $5, $6, $7, 'pending', '', '', '', $8, 0)`
	_, err := t.Exec(ctx, insert, string(c.DeliveryID), string(edge), string(c.RunID), string(c.Kind), int64(c.Lease),
		[]byte(c.Body), c.Signature, micros(t.now))
	if err != nil {
		return fmt.Errorf("insert command: %w", err)
	}
	t.WakeEdge(edge)
	return nil
}

const commandColumns = `delivery_id, kind, run_id, lease, body, signature`

func scanCommand(row Scanner) (wire.Command, error) {
	var c wire.Command
	var body []byte
	err := row.Scan(&c.DeliveryID, &c.Kind, &c.RunID, &c.Lease, &body, &c.Signature)
	c.Body = body
	return c, err
}

// TakeCommands implements runlog.CommandStore. It writes only when there is something new.
func (r *Runlog) TakeCommands(ctx context.Context, edge id.Edge) ([]wire.Command, error) {
	const fresh = `SELECT 1 FROM edge_commands WHERE edge_id = $1 AND state = 'pending' LIMIT 1`
	some, err := hasRow(r.store.readDB.QueryRowContext(ctx, fresh, string(edge)))
	if err != nil {
		return nil, fmt.Errorf("look for commands: %w", err)
	}
	if some {
		err := r.writer.Do(ctx, []Lock{LockLane(string(edge))}, func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE edge_commands SET state = 'sent' WHERE edge_id = $1 AND state = 'pending'`, string(edge))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("take commands: %w", err)
		}
	}
	return r.sentCommands(ctx, edge)
}

func (r *Runlog) sentCommands(ctx context.Context, edge id.Edge) ([]wire.Command, error) {
	const query = `SELECT ` + commandColumns + ` FROM edge_commands WHERE edge_id = $1 AND state = 'sent' ORDER BY place`
	rows, err := r.store.readDB.QueryContext(ctx, query, string(edge))
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	defer rows.Close()
	var found []wire.Command
	for rows.Next() {
		c, err := scanCommand(rows)
		if err != nil {
			return nil, fmt.Errorf("read commands: %w", err)
		}
		found = append(found, c)
	}
	return found, rows.Err()
}

// Command implements runlog.CommandStore.
func (r *Runlog) Command(ctx context.Context, edge id.Edge, delivery id.Delivery) (wire.Command, bool, error) {
	const query = `
SELECT ` + commandColumns + ` FROM edge_commands WHERE delivery_id = $1 AND edge_id = $2 AND state IN ('pending', 'sent')`
	c, err := scanCommand(r.store.readDB.QueryRowContext(ctx, query, string(delivery), string(edge)))
	if errors.Is(err, sql.ErrNoRows) {
		return wire.Command{}, false, nil
	}
	if err != nil {
		return wire.Command{}, false, fmt.Errorf("read command: %w", err)
	}
	return c, true, nil
}

// CloseCommand implements runlog.CommandStore.
func (r *Runlog) CloseCommand(
	ctx context.Context, edge id.Edge, receipt wire.CommandReceipt, last runlog.EventSeq, entries []runlog.Entry,
) (bool, error) {
	locks := []Lock{LockLane(string(edge))}
	c, open, err := r.Command(ctx, edge, receipt.DeliveryID)
	if err != nil || !open {
		return true, err
	}
	if len(entries) > 0 {
		found, err := r.Run(ctx, c.RunID)
		if err != nil {
			return false, err
		}
		locks = append(locks, lockSetOf(found.Session, found.ID)...)
	}
	var done bool
	err = r.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) (err error) {
		done, err = tx.closeCommand(ctx, edge, c.RunID, receipt, last, entries)
		return err
	})
	return err == nil && done, err
}

func (t *Tx) closeCommand(
	ctx context.Context, edge id.Edge, runID id.Run, receipt wire.CommandReceipt, last runlog.EventSeq, entries []runlog.Entry,
) (bool, error) {
	if len(entries) > 0 {
		if done, err := t.appendOwn(ctx, runID, last, entries); err != nil || !done {
			return false, err
		}
	}
	_, err := t.finishCommand(ctx, edge, receipt)
	return err == nil, err
}

// finishCommand records the edge's answer to a command, and says whether that was news.
func (t *Tx) finishCommand(ctx context.Context, edge id.Edge, receipt wire.CommandReceipt) (bool, error) {
	const finish = `
UPDATE edge_commands SET state = 'done', receipt_status = $3, receipt_code = $4, receipt_detail = $5, receipt_at = $6
WHERE delivery_id = $1 AND edge_id = $2 AND state <> 'done'`
	n, err := t.Exec(ctx, finish, string(receipt.DeliveryID), string(edge), string(receipt.Status), string(receipt.Code), receipt.Detail,
		micros(t.now))
	if err != nil {
		return false, fmt.Errorf("close command: %w", err)
	}
	return n > 0, nil
}
