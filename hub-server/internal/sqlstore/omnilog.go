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
	const query = `
SELECT c.last_change, COALESCE((SELECT MAX(f.place) FROM omni_checkpoints f WHERE f.session_id = c.session_id AND f.floor), 0),
    COALESCE(p.place, 0), COALESCE(p.rules, 0), p.state
FROM conversation_counters c LEFT JOIN omni_checkpoints p ON p.session_id = c.session_id AND (p.rules = $3 OR p.floor) AND p.place = (
    SELECT MAX(q.place) FROM omni_checkpoints q WHERE q.session_id = c.session_id AND q.place <= $2 AND (q.rules = $3 OR q.floor))
WHERE c.session_id = $1 ORDER BY p.rules DESC LIMIT 1`
	begin.Session = session
	row := o.store.queryRowPrepared(ctx, query, string(session), upTo, rules)
	err = row.Scan(&begin.Changes, &begin.Floor, &begin.Place, &begin.Rules, &begin.State)
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

const insertOmni = `
INSERT INTO omni_checkpoints (session_id, place, rules, floor, state) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session_id, place, rules) DO `

// Save implements omnilog.Store. Whoever changes a message has the lock too.
func (o *Omni) Save(ctx context.Context, cp omnilog.Checkpoint, changes int64) error {
	return o.writer.Do(ctx, []Lock{lockTrace(cp.Session)}, func(ctx context.Context, tx *Tx) error {
		unchanged, err := hasRow(tx.QueryRow(ctx, `SELECT 1 FROM conversation_counters WHERE session_id = $1 AND last_change = $2`,
			string(cp.Session), changes))
		if err != nil {
			return fmt.Errorf("read changes of %s: %w", cp.Session, err)
		}
		if !unchanged {
			return omnilog.ErrMoved
		}
		if _, err := tx.Exec(ctx, insertOmni+`NOTHING`, string(cp.Session), cp.Place, cp.Rules, false, cp.State); err != nil {
			return fmt.Errorf("store checkpoint: %w", err)
		}
		const outdated = `DELETE FROM omni_checkpoints WHERE session_id = $1 AND place <= $2 AND rules < $3 AND NOT floor`
		_, err = tx.Exec(ctx, outdated, string(cp.Session), cp.Place, cp.Rules)
		return err
	})
}

// Raise implements omnilog.Store.
func (o *Omni) Raise(ctx context.Context, cp omnilog.Checkpoint) error {
	return o.writer.Do(ctx, []Lock{lockTrace(cp.Session)}, func(ctx context.Context, tx *Tx) error {
		floor, err := tx.floorOf(ctx, cp.Session)
		if err != nil || floor >= cp.Place {
			return err
		}
		if _, err := tx.Exec(ctx, insertOmni+`UPDATE SET floor = excluded.floor, state = excluded.state`, string(cp.Session), cp.Place, cp.Rules, true, cp.State); err != nil {
			return fmt.Errorf("store checkpoint: %w", err)
		}
		return tx.dropBefore(ctx, cp.Session, cp.Place)
	})
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

// revise has no checkpoint remember what a message has said before it was changed or taken back. Those that can be made again go; that of the floor is
// changed. The lock of the trace is held.
func (t *Tx) revise(ctx context.Context, m chat.Message) error {
	const where = `session_id = $1 AND place >= (SELECT place FROM messages WHERE session_id = $1 AND id = $2)`
	if _, err := t.Exec(ctx, `DELETE FROM omni_checkpoints WHERE NOT floor AND `+where, string(m.Session), string(m.ID)); err != nil {
		return fmt.Errorf("drop checkpoints: %w", err)
	}
	const read = `SELECT o.place, o.rules, o.state, (SELECT place FROM messages WHERE session_id = $1 AND id = $2) FROM omni_checkpoints o WHERE `
	type row struct {
		place, rules, of int64
		state            []byte
	}
	rows, err := t.Query(ctx, read+where, string(m.Session), string(m.ID))
	found, err := collect(rows, err, func(s Scanner) (r row, err error) {
		err = s.Scan(&r.place, &r.rules, &r.state, &r.of)
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
		state.Revise(r.of, plain(m))
		if r.state, err = state.Encode(); err != nil {
			return err
		}
		const write = `UPDATE omni_checkpoints SET state = $4 WHERE session_id = $1 AND place = $2 AND rules = $3`
		if _, err := t.Exec(ctx, write, string(m.Session), r.place, r.rules, r.state); err != nil {
			return fmt.Errorf("change checkpoint: %w", err)
		}
	}
	return nil
}
