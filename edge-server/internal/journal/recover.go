package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// ErrCorrupt says that the file contradicts itself: the disk lost or changed what was synced.
var ErrCorrupt = errors.New("the journal is corrupt")

// recover reads the numbers from the file, begins a new boot and fills the reserve.
func (j *Journal) recover(ctx context.Context) error {
	err := j.beginBoot(ctx)
	if diskFull(err) { // what had begun has to be accounted for all the same: the reserve is for that, too
		if err = j.reserve.release(); err == nil {
			err = j.beginBoot(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("begin boot: %w", err)
	}
	if err := j.readTail(ctx); err != nil {
		return fmt.Errorf("read tail: %w", err)
	}
	if j.blobs, err = openBlobs(ctx, j.opts.Home, j.db.readDB); err != nil {
		return fmt.Errorf("open blobs: %w", err)
	}
	if j.state.Used, err = j.readUsed(ctx); err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	if err := j.reserve.fill(); err != nil {
		j.spent = true
		j.opts.Log.Warn("no space for the journal's reserve: no new work is taken", "error", err)
	}
	j.state.Cap = j.opts.Cap
	j.metrics.observe(j.state)
	return nil
}

// beginBoot writes a fresh boot nonce, and on the very first start an incarnation.
func (j *Journal) beginBoot(ctx context.Context) error {
	const statement = `INSERT INTO lane (id, incarnation, boot_nonce, floor, floor_chain) VALUES (1, ?, ?, 1, ?)
		ON CONFLICT (id) DO UPDATE SET boot_nonce = excluded.boot_nonce
		RETURNING incarnation, boot_nonce, floor, floor_chain, receipt`
	var floorChain, receipt []byte
	var zero wire.Chain
	row := j.db.writeDB.QueryRowContext(ctx, statement, randomHex(8), randomHex(8), zero[:])
	if err := row.Scan(&j.state.Incarnation, &j.state.BootNonce, &j.state.Floor, &floorChain, &receipt); err != nil {
		return err
	}
	if err := setChain(&j.tail.chain, floorChain); err != nil {
		return err
	}
	j.tail.head = j.state.Floor - 1
	if receipt == nil {
		return nil
	}
	j.state.Receipt = &wire.CommitReceipt{}
	if err := json.Unmarshal(receipt, j.state.Receipt); err != nil {
		return fmt.Errorf("read receipt: %w", err)
	}
	return nil
}

// readTail finds the head and makes sure that no row between floor and head is missing.
func (j *Journal) readTail(ctx context.Context) error {
	var first, last, count int64
	const statement = `SELECT coalesce(min(seq), 0), coalesce(max(seq), 0), count(*) FROM rows`
	if err := j.db.readDB.QueryRowContext(ctx, statement).Scan(&first, &last, &count); err != nil {
		return err
	}
	if count > 0 {
		if first != int64(j.state.Floor) || last-first+1 != count {
			return fmt.Errorf("%w: %d rows from %d to %d with floor %d", ErrCorrupt, count, first, last, j.state.Floor)
		}
		var chain []byte
		if err := j.db.readDB.QueryRowContext(ctx, `SELECT chain FROM rows WHERE seq = ?`, last).Scan(&chain); err != nil {
			return err
		}
		j.tail.head = wire.ProducerSeq(last)
		if err := setChain(&j.tail.chain, chain); err != nil {
			return err
		}
	}
	j.state.Head = j.tail.head
	return nil
}

func (j *Journal) readUsed(ctx context.Context) (int64, error) {
	const statement = `SELECT coalesce(sum(length(bytes) + ?), 0) FROM rows`
	var rows, blobs int64
	if err := j.db.readDB.QueryRowContext(ctx, statement, rowOverhead).Scan(&rows); err != nil {
		return 0, err
	}
	err := j.db.readDB.QueryRowContext(ctx, `SELECT coalesce(sum(size), 0) FROM blobs`).Scan(&blobs)
	return rows + blobs, err
}

func setChain(dst *wire.Chain, src []byte) error {
	if len(src) != len(dst) {
		return fmt.Errorf("%w: chain value of %d bytes", ErrCorrupt, len(src))
	}
	copy(dst[:], src)
	return nil
}

// Verify computes the chain over all kept rows again and compares. It reads the whole journal.
func (j *Journal) Verify(ctx context.Context) (err error) {
	tx, err := j.db.readDB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	var seq wire.ProducerSeq
	var raw []byte
	if err := tx.QueryRowContext(ctx, `SELECT floor, floor_chain FROM lane`).Scan(&seq, &raw); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	var chain wire.Chain
	if err := setChain(&chain, raw); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT seq, chain, bytes FROM rows ORDER BY seq`)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for ; rows.Next(); seq++ {
		var found wire.ProducerSeq
		var stored, bytes []byte
		if err := rows.Scan(&found, &stored, &bytes); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if chain = chain.Next(bytes); found != seq || string(chain[:]) != string(stored) {
			return fmt.Errorf("%w: row %d", ErrCorrupt, seq)
		}
	}
	return rows.Err()
}
