package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// transaction is one group on its way to disk. It works on copies of the numbers; they become the journal's when it is committed. Owned by
// the writer's goroutine.
type transaction struct {
	ctx   context.Context
	sql   *sql.Tx
	j     *Journal
	state State
	tail  tail
	fresh *wire.CommitReceipt // to be written
}

func (j *Journal) begin(ctx context.Context) (*transaction, error) {
	tx, err := j.db.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return &transaction{ctx: ctx, sql: tx, j: j, state: j.state, tail: j.tail, fresh: j.receipt}, nil
}

func (t *transaction) exec(statement string, args ...any) error {
	_, err := t.sql.ExecContext(t.ctx, statement, args...)
	return err
}

func (t *transaction) commit() error {
	if err := t.sql.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (t *transaction) rollback() {
	if err := t.sql.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		t.j.opts.Log.Error("journal rollback failed", "error", err)
	}
}

// apply runs the effect and inserts the row of e. outcome is the answer to who waits for e: an effect that fails takes its row with it and
// leaves the rest of the group alone. err concerns the whole group.
func (t *transaction) apply(e *entry) (outcome, err error) {
	if e.effect != nil {
		if outcome, err = t.runEffect(e.effect); outcome != nil || err != nil {
			return outcome, err
		}
	}
	if !e.hasRow() {
		return nil, nil
	}
	return nil, t.insert(e)
}

func (t *transaction) runEffect(effect func(*transaction) error) (outcome, err error) {
	if err := t.exec("SAVEPOINT effect"); err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	before := *t
	if outcome = effect(t); diskTrouble(outcome) {
		return nil, outcome
	}
	if outcome != nil {
		*t = before
		if err := t.exec("ROLLBACK TO effect"); err != nil {
			return nil, errors.Join(outcome, fmt.Errorf("roll back: %w", err))
		}
	}
	if err := t.exec("RELEASE effect"); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	return outcome, nil
}

// insert numbers, encodes, chains and writes one row.
func (t *transaction) insert(e *entry) error {
	payload, err := e.event.Encode()
	if err != nil {
		return fmt.Errorf("encode %s: %w", e.event.Type, err)
	}
	seq := t.tail.head + 1
	env := event.Envelope{
		Version: event.Version, ID: e.id, Seq: uint64(seq), Type: event.WireOf(e.event.Type, payload), Scope: e.origin.Scope,
		TraceID: e.origin.TraceID, SentAt: e.at, Payload: payload,
	}
	if env.TraceID != "" { // a span is of a trace
		env.SpanID = event.SpanOf(env.Scope.RunID, e.event.Type, payload)
	}
	row, err := event.AppendRow(nil, env)
	if err != nil {
		return t.dropBadRow(e, err)
	}
	if err := t.putRow(seq, e.origin, e.at.UnixMicro(), row); err != nil {
		return err
	}
	if err := t.nameBlobs(seq, e.blobs); err != nil {
		return err
	}
	if e.event.Type.LastOfEdge() {
		return t.endRun(e.origin.Scope.RunID, e.at)
	}
	return nil
}

func (t *transaction) putRow(seq wire.ProducerSeq, from Origin, at int64, row []byte) error {
	chain := t.tail.chain.Next(row)
	const statement = `INSERT INTO rows (seq, run, at, chain, bytes) VALUES (?, ?, ?, ?, ?)`
	if err := t.exec(statement, int64(seq), string(from.Scope.RunID), at, chain[:], row); err != nil {
		return fmt.Errorf("insert row %d: %w", seq, err)
	}
	t.tail = tail{head: seq, chain: chain}
	t.state.Used += int64(len(row)) + rowOverhead
	return nil
}

// dropBadRow keeps an event that cannot be encoded, a fault of this program, from stopping the whole journal. It is counted and logged.
func (t *transaction) dropBadRow(e *entry, err error) error {
	t.j.metrics.unencodable.Inc()
	t.j.opts.Log.Error("event cannot be a journal row", "run", e.origin.Scope.RunID, "type", e.event.Type, "error", err)
	return nil
}

// putReceipt writes the newest receipt of the hub along with the group.
func (t *transaction) putReceipt() error {
	if t.fresh == nil || t.fresh.Incarnation != t.state.Incarnation {
		return nil
	}
	encoded, err := json.Marshal(t.fresh)
	if err != nil {
		return fmt.Errorf("encode receipt: %w", err)
	}
	if err := t.exec(`UPDATE lane SET receipt = ? WHERE id = 1`, encoded); err != nil {
		return fmt.Errorf("write receipt: %w", err)
	}
	t.state.Receipt = t.fresh
	return nil
}
