package journal

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Renumber begins a new incarnation, because the hub knows other rows under this one's numbers: the file was restored or cloned
// (architecture 6.5). Rows that the hub had not committed are numbered again from 1 and chained anew; their ids and payloads stay. Committed
// rows of live runs move aside: they are not sent again.
func (j *Journal) Renumber(ctx context.Context) error {
	if err := j.record(ctx, (*transaction).renumber); err != nil {
		return fmt.Errorf("begin a new incarnation: %w", err)
	}
	return nil
}

func (t *transaction) renumber() error {
	fresh := wire.Incarnation(randomHex(8))
	var committed wire.ProducerSeq
	if t.fresh != nil && t.fresh.Incarnation == t.state.Incarnation {
		committed = t.fresh.Seq
	} else {
		committed = t.state.Committed()
	}
	if err := t.setAside(committed); err != nil {
		return fmt.Errorf("set committed rows aside: %w", err)
	}
	old, err := t.takeRows()
	if err != nil {
		return fmt.Errorf("take rows: %w", err)
	}
	var zero wire.Chain
	const lane = `UPDATE lane SET incarnation = ?, floor = 1, floor_chain = ?, receipt = NULL WHERE id = 1`
	if err := t.exec(lane, string(fresh), zero[:]); err != nil {
		return fmt.Errorf("write lane: %w", err)
	}
	t.tail = tail{}
	t.state.Incarnation, t.state.Floor, t.state.Receipt, t.fresh = fresh, 1, nil, nil
	for _, row := range old {
		if err := t.putAgain(row); err != nil {
			return err
		}
	}
	return nil
}

// setAside empties the log of committed rows.
func (t *transaction) setAside(committed wire.ProducerSeq) error {
	const move = `INSERT INTO past_rows (run, n, bytes)
		SELECT r.run, coalesce((SELECT max(n) FROM past_rows p WHERE p.run = r.run), 0) + r.seq, r.bytes
		FROM rows r JOIN runs u ON u.run = r.run WHERE r.seq <= ?1 AND u.ended_at IS NULL`
	for _, statement := range []string{move, `DELETE FROM rows WHERE seq <= ?1`, `DELETE FROM row_blobs WHERE seq <= ?1`} {
		if err := t.exec(statement, int64(committed)); err != nil {
			return err
		}
	}
	return nil
}

// keptRow is a row between two numberings.
type keptRow struct {
	event event.Envelope
	at    int64
	blobs []string
}

// takeRows removes all rows and returns them in order.
func (t *transaction) takeRows() ([]keptRow, error) {
	kept, err := query(t.ctx, t.sql, func(scan func(...any) error) (k keptRow, err error) {
		var row []byte
		if err := scan(&k.at, &row); err != nil {
			return k, err
		}
		k.event, err = event.ParseRow(row)
		return k, err
	}, `SELECT at, bytes FROM rows ORDER BY seq`)
	if err != nil {
		return nil, err
	}
	for i := range kept {
		const named = `SELECT sha256 FROM row_blobs WHERE seq = ?`
		if kept[i].blobs, err = query(t.ctx, t.sql, scanText, named, int64(kept[i].event.Seq)); err != nil {
			return nil, err
		}
	}
	t.state.Used = 0
	const blobs = `SELECT coalesce(sum(size), 0) FROM blobs`
	if err := t.sql.QueryRowContext(t.ctx, blobs).Scan(&t.state.Used); err != nil {
		return nil, err
	}
	if err := t.exec(`DELETE FROM rows`); err != nil {
		return nil, err
	}
	return kept, t.exec(`DELETE FROM row_blobs`)
}

func (t *transaction) putAgain(k keptRow) error {
	seq := t.tail.head + 1
	k.event.Seq = uint64(seq)
	row, err := event.AppendRow(nil, k.event)
	if err != nil {
		return fmt.Errorf("encode row again: %w", err)
	}
	if err := t.putRow(seq, Origin{Scope: k.event.Scope}, k.at, row); err != nil {
		return err
	}
	for _, sum := range k.blobs {
		const name = `INSERT INTO row_blobs (seq, sha256) VALUES (?, ?)`
		if err := t.exec(name, int64(seq), sum); err != nil {
			return fmt.Errorf("name blob again: %w", err)
		}
	}
	return nil
}
