package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Receipt returns the recorded answer to a command; false if that delivery was never answered.
func (j *Journal) Receipt(ctx context.Context, d id.Delivery) (wire.CommandReceipt, bool, error) {
	var receipt wire.CommandReceipt
	var raw []byte
	err := j.db.readDB.QueryRowContext(ctx, `SELECT receipt FROM commands WHERE delivery = ?`, string(d)).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return receipt, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &receipt)
	}
	if err != nil {
		return receipt, false, fmt.Errorf("read receipt of %s: %w", d, err)
	}
	return receipt, true, nil
}

// Answer records a command, verbatim with the hub's signature, and its receipt. It returns when both are on disk.
func (j *Journal) Answer(ctx context.Context, c wire.Command, r wire.CommandReceipt) error {
	return j.answer(ctx, c, r, func(*transaction) error { return nil })
}

// AnswerStart is Answer for a start that is taken: the run is admitted in the same transaction.
func (j *Journal) AnswerStart(ctx context.Context, c wire.Command, r wire.CommandReceipt) error {
	return j.answer(ctx, c, r, func(tx *transaction) error {
		const statement = `INSERT INTO runs (run, place, delivery, lease, phase)
			SELECT ?, coalesce(max(place), 0) + 1, ?, ?, ? FROM runs`
		return tx.exec(statement, string(c.RunID), string(c.DeliveryID), int64(c.Lease), string(Admitted))
	})
}

// AnswerAgain is Answer for another command that concerns a run that was admitted: its lease is the highest that was seen.
func (j *Journal) AnswerAgain(ctx context.Context, c wire.Command, r wire.CommandReceipt) error {
	return j.answerFor(ctx, c, r, `UPDATE runs SET lease = max(lease, ?) WHERE run = ?`)
}

// AnswerCancel is AnswerAgain for a cancel that is taken: the run is marked in the same transaction.
func (j *Journal) AnswerCancel(ctx context.Context, c wire.Command, r wire.CommandReceipt) error {
	return j.answerFor(ctx, c, r, `UPDATE runs SET lease = max(lease, ?), cancelled = 1 WHERE run = ?`)
}

// Orders returns what a run was told by control commands that were accepted, the oldest first.
func (j *Journal) Orders(ctx context.Context, r id.Run) ([]wire.ControlOrder, error) {
	type answered struct{ command, receipt []byte }
	scan := func(scan func(...any) error) (a answered, err error) {
		err = scan(&a.command, &a.receipt)
		return a, err
	}
	found, err := query(ctx, j.db.readDB, scan, `SELECT command, receipt FROM commands WHERE run = ? ORDER BY at`, string(r))
	var orders []wire.ControlOrder
	for _, a := range found {
		var c wire.Command
		var receipt wire.CommandReceipt
		var order wire.ControlOrder
		err = errors.Join(err, json.Unmarshal(a.command, &c), json.Unmarshal(a.receipt, &receipt))
		if err != nil || c.Kind != wire.Control || receipt.Status != wire.Accepted {
			continue
		}
		err = json.Unmarshal(c.Body, &order)
		orders = append(orders, order)
	}
	if err != nil {
		return nil, fmt.Errorf("read orders of run %s: %w", r, err)
	}
	return orders, nil
}

func (j *Journal) answerFor(ctx context.Context, c wire.Command, r wire.CommandReceipt, update string) error {
	return j.answer(ctx, c, r, func(tx *transaction) error { return tx.exec(update, int64(c.Lease), string(c.RunID)) })
}

func (j *Journal) answer(ctx context.Context, c wire.Command, r wire.CommandReceipt, also func(*transaction) error) error {
	command, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode command: %w", err)
	}
	receipt, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode receipt: %w", err)
	}
	err = j.record(ctx, func(tx *transaction) error {
		if err := also(tx); err != nil {
			return err
		}
		const statement = `INSERT INTO commands (delivery, run, at, command, receipt) VALUES (?, ?, ?, ?, ?)`
		return tx.exec(statement, string(c.DeliveryID), string(c.RunID), j.opts.Now().UnixMicro(), command, receipt)
	})
	if err != nil {
		return fmt.Errorf("record command %s: %w", c.DeliveryID, err)
	}
	return nil
}
