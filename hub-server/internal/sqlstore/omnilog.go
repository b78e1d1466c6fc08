package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Omni reads conversations for OmniMessages and keeps the checkpoints of their fold: omnilog.Store.
type Omni struct {
	store  *Store
	writer *Writer
}

var _ omnilog.Store = (*Omni)(nil)

// NewOmni reads from s and writes through w.
func NewOmni(s *Store, w *Writer) *Omni { return &Omni{store: s, writer: w} }

// Epoch implements omnilog.Store.
func (o *Omni) Epoch() wire.Epoch { return o.store.Epoch() }

// Checkpoint implements omnilog.Store. It is one statement: the checkpoint is as the changes are that it is read with.
func (o *Omni) Checkpoint(ctx context.Context, session id.Session, upTo int64, rules int) (begin omnilog.Begin, err error) {
	// Each of the two newest places is found by an index of its own.
	const query = `
SELECT c.last_change, COALESCE((SELECT MAX(f.place) FROM omni_checkpoints f WHERE f.session_id = $1 AND f.floor), 0),
    COALESCE(p.place, 0), COALESCE(p.rules, 0), p.state, COALESCE(p.loose_from, 0), COALESCE(p.loose_to, 0)
FROM conversation_counters c LEFT JOIN omni_checkpoints p ON p.session_id = $1 AND (p.rules = $3 OR p.floor) AND p.place = (SELECT MAX(n.place) FROM (
    SELECT MAX(q.place) AS place FROM omni_checkpoints q WHERE q.session_id = $1 AND q.rules = $3 AND q.place <= $2
    UNION ALL SELECT MAX(f.place) AS place FROM omni_checkpoints f WHERE f.session_id = $1 AND f.floor AND f.place <= $2) n)
WHERE c.session_id = $1 ORDER BY p.rules DESC LIMIT 1`
	begin.Session = session
	row := o.store.queryRowPrepared(ctx, query, string(session), upTo, rules)
	err = row.Scan(&begin.Changes, &begin.Floor, &begin.Place, &begin.Rules, &begin.State, &begin.LooseFrom, &begin.LooseTo)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return begin, omnilog.ErrUnknown
	case err != nil:
		return begin, fmt.Errorf("read checkpoint of %s: %w", session, err)
	case upTo < begin.Floor:
		return begin, omnilog.ErrTrimmed
	}
	return begin, nil
}

// Active implements omnilog.Store.
func (o *Omni) Active(ctx context.Context, session id.Session) ([]omnilog.Active, error) {
	const query = `SELECT run_id, started_at > 0 FROM runs WHERE session_id = $1 AND ended_at = 0 ORDER BY created_at, run_id`
	rows, err := o.store.queryPrepared(ctx, query, string(session))
	found, err := collect(rows, err, func(row Scanner) (a omnilog.Active, err error) {
		err = row.Scan(&a.Run, &a.Begun)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("read active runs of %s: %w", session, err)
	}
	return found, nil
}

const selectFloor = `SELECT COALESCE(MAX(place), 0) FROM omni_checkpoints WHERE session_id = $1 AND floor`

// Floor implements omnilog.Store.
func (o *Omni) Floor(ctx context.Context, session id.Session) (floor int64, err error) {
	if err := o.store.queryRowPrepared(ctx, selectFloor, string(session)).Scan(&floor); err != nil {
		return 0, fmt.Errorf("read floor of %s: %w", session, err)
	}
	return floor, nil
}

// Save implements omnilog.Store. Whoever changes a message has the lock too.
func (o *Omni) Save(ctx context.Context, cp omnilog.Checkpoint, changes int64) error {
	return o.writer.Do(ctx, []Lock{lockTrace(cp.Session)}, func(ctx context.Context, tx *Tx) error {
		if err := tx.store(ctx, cp, changes); err != nil {
			return err
		}
		const outdated = `DELETE FROM omni_checkpoints WHERE session_id = $1 AND place <= $2 AND rules < $3 AND NOT floor`
		if _, err := tx.Exec(ctx, outdated, string(cp.Session), cp.Place, cp.Rules); err != nil {
			return fmt.Errorf("drop outdated checkpoints: %w", err)
		}
		return tx.thin(ctx, cp.Session, cp.Rules)
	})
}

// Raise implements omnilog.Store.
func (o *Omni) Raise(ctx context.Context, cp omnilog.Checkpoint) error {
	return o.writer.Do(ctx, []Lock{lockTrace(cp.Session)}, func(ctx context.Context, tx *Tx) error {
		floor, err := tx.floorOf(ctx, cp.Session)
		if err != nil || floor >= cp.Place {
			return err
		}
		const first = `SELECT COALESCE(MIN(place), 0) FROM omni_checkpoints WHERE session_id = $1 AND rules = $2 AND place >= $3`
		var place int64
		if err := tx.QueryRow(ctx, first, string(cp.Session), cp.Rules, cp.Place).Scan(&place); err != nil {
			return fmt.Errorf("look for a checkpoint: %w", err)
		}
		if place == 0 {
			place = cp.Place
			if err := tx.store(ctx, cp, 0); err != nil {
				return err
			}
		}
		_, err = tx.raiseFloor(ctx, cp.Session, place)
		return err
	})
}

// store stores a checkpoint, unless words have changed on which it depends. The lock of the trace is held.
func (t *Tx) store(ctx context.Context, cp omnilog.Checkpoint, changes int64) error {
	const changed = `SELECT 1 FROM messages WHERE session_id = $1 AND changed > 0 AND changed > $2 AND place >= $3 AND place <= $4 LIMIT 1`
	moved, err := hasRow(t.QueryRow(ctx, changed, string(cp.Session), changes, cp.LooseFrom, cp.LooseTo))
	if err != nil {
		return fmt.Errorf("read changes of %s: %w", cp.Session, err)
	}
	if moved {
		return omnilog.ErrMoved
	}
	const insert = `INSERT INTO omni_checkpoints (session_id, place, rules, floor, state, loose_from, loose_to) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (session_id, place, rules) DO NOTHING`
	if _, err := t.Exec(ctx, insert, string(cp.Session), cp.Place, cp.Rules, false, cp.State, cp.LooseFrom, cp.LooseTo); err != nil {
		return fmt.Errorf("store checkpoint: %w", err)
	}
	return nil
}

const (
	// denseOmni is how many checkpoints at the end of a conversation stay as they were made: that is where people read.
	denseOmni = 64
	// sparseOmni is how many places are at most between two of those before, unless they were made further apart.
	sparseOmni = 8000
)

// thin drops the newest checkpoint before the dense ones, where those on both sides of it are near. The lock of the trace is held.
func (t *Tx) thin(ctx context.Context, session id.Session, rules int) error {
	const last = `SELECT place FROM omni_checkpoints WHERE session_id = $1 AND rules = $2 ORDER BY place DESC LIMIT 2 OFFSET $3`
	rows, err := t.Query(ctx, last, string(session), rules, denseOmni-1)
	places, err := collect(rows, err, func(row Scanner) (place int64, err error) {
		err = row.Scan(&place)
		return place, err
	})
	if err != nil {
		return fmt.Errorf("read checkpoints: %w", err)
	}
	if len(places) < 2 {
		return nil
	}
	const drop = `
DELETE FROM omni_checkpoints WHERE session_id = $1 AND rules = $2 AND place = $3 AND NOT floor
  AND $4 <= COALESCE((SELECT MAX(b.place) FROM omni_checkpoints b WHERE b.session_id = $1 AND b.rules = $2 AND b.place < $3), 0)`
	if _, err := t.Exec(ctx, drop, string(session), rules, places[1], places[0]-sparseOmni); err != nil {
		return fmt.Errorf("thin checkpoints: %w", err)
	}
	return nil
}

func (t *Tx) floorOf(ctx context.Context, session id.Session) (floor int64, err error) {
	if err := t.QueryRow(ctx, selectFloor, string(session)).Scan(&floor); err != nil {
		return 0, fmt.Errorf("read floor of %s: %w", session, err)
	}
	return floor, nil
}

func (t *Tx) dropBefore(ctx context.Context, session id.Session, place int64) error {
	_, err := t.Exec(ctx, `DELETE FROM omni_checkpoints WHERE session_id = $1 AND place < $2`, string(session), place)
	if err != nil {
		return fmt.Errorf("drop checkpoints: %w", err)
	}
	return nil
}

// raiseFloor has a conversation begin behind a place, of which there is a checkpoint; false if there is none and it does not begin there or behind it already.
// The lock of the trace is held.
func (t *Tx) raiseFloor(ctx context.Context, session id.Session, place int64) (bool, error) {
	floor, err := t.floorOf(ctx, session)
	if err != nil || floor >= place {
		return err == nil, err
	}
	n, err := t.Exec(ctx, `UPDATE omni_checkpoints SET floor = $3 WHERE session_id = $1 AND place = $2`, string(session), place, true)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.dropBefore(ctx, session, place)
}

// revise has no checkpoint remember what a message has said before it was changed or taken back, of those that depend on it. Those that can be made
// again go; that of the floor is changed. The lock of the trace is held.
func (t *Tx) revise(ctx context.Context, m chat.Message) error {
	var of int64
	err := t.QueryRow(ctx, `SELECT place FROM messages WHERE session_id = $1 AND id = $2`, string(m.Session), string(m.ID)).Scan(&of)
	if err != nil {
		return fmt.Errorf("read place of %s: %w", m.ID, err)
	}
	const where = `session_id = $1 AND loose_to > 0 AND loose_to >= $2 AND loose_from <= $2 AND place >= $2`
	if _, err := t.Exec(ctx, `DELETE FROM omni_checkpoints WHERE NOT floor AND `+where, string(m.Session), of); err != nil {
		return fmt.Errorf("drop checkpoints: %w", err)
	}
	type row struct {
		place, rules int64
		state        []byte
	}
	rows, err := t.Query(ctx, `SELECT place, rules, state FROM omni_checkpoints WHERE `+where, string(m.Session), of)
	found, err := collect(rows, err, func(s Scanner) (r row, err error) {
		err = s.Scan(&r.place, &r.rules, &r.state)
		return r, err
	})
	if err != nil {
		return fmt.Errorf("read checkpoints: %w", err)
	}
	for _, r := range found {
		state, err := omni.Restore(r.state)
		if err != nil {
			return err
		}
		state.Revise(of, saidIn(m))
		if r.state, err = state.Encode(); err != nil {
			return err
		}
		from, to := state.Loose()
		const write = `UPDATE omni_checkpoints SET state = $4, loose_from = $5, loose_to = $6 WHERE session_id = $1 AND place = $2 AND rules = $3`
		if _, err := t.Exec(ctx, write, string(m.Session), r.place, r.rules, r.state, from, to); err != nil {
			return fmt.Errorf("change checkpoint: %w", err)
		}
	}
	return nil
}
