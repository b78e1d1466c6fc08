package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/hub-server/internal/timer"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Cards keeps what cards have told of conversations: cardlog.Store.
type Cards struct {
	store  *Store
	writer *Writer
}

var _ cardlog.Store = (*Cards)(nil)

// NewCards reads from s and writes through w.
func NewCards(s *Store, w *Writer) *Cards { return &Cards{store: s, writer: w} }

// Epoch implements cardlog.Store.
func (c *Cards) Epoch() wire.Epoch { return c.store.Epoch() }

const selectCheckpoint = `SELECT trace_id, session_id, epoch, seq, floor_seq, place, rules, state FROM card_traces WHERE session_id = $1`

func scanCheckpoint(row Scanner) (cp cardlog.Checkpoint, known bool, err error) {
	err = row.Scan(&cp.ID, &cp.Session, &cp.Epoch, &cp.Head, &cp.Floor, &cp.Place, &cp.Rules, &cp.State)
	if errors.Is(err, sql.ErrNoRows) {
		return cp, false, nil
	}
	return cp, err == nil, err
}

// Checkpoint implements cardlog.Store.
func (c *Cards) Checkpoint(ctx context.Context, session id.Session) (cardlog.Checkpoint, bool, error) {
	cp, known, err := scanCheckpoint(c.store.queryRowPrepared(ctx, selectCheckpoint, string(session)))
	if err != nil {
		return cp, false, fmt.Errorf("read trace of %s: %w", session, err)
	}
	return cp, known, nil
}

// lockTrace keeps hubs that move one trace on from waiting for each other's row.
func lockTrace(session id.Session) Lock { return LockAccount("cards:" + string(session)) }

// Make implements cardlog.Store.
func (c *Cards) Make(ctx context.Context, first cardlog.Checkpoint) (now cardlog.Checkpoint, err error) {
	err = c.writer.Do(ctx, []Lock{lockTrace(first.Session)}, func(ctx context.Context, tx *Tx) error {
		var known bool
		now, known, err = scanCheckpoint(tx.QueryRow(ctx, selectCheckpoint, string(first.Session)))
		if err != nil || known && now.Epoch == first.Epoch {
			return err
		}
		if known {
			err = tx.removeTrace(ctx, now.Session, now.ID)
		} else {
			err = tx.hasOrder(ctx, first.Session)
		}
		if err != nil {
			return err
		}
		const insert = `
INSERT INTO card_traces (trace_id, session_id, epoch, seq, floor_seq, place, rules, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
		now = first
		_, err := tx.Exec(ctx, insert, string(first.ID), string(first.Session), string(first.Epoch), int64(first.Head), int64(first.Floor), //nolint:gosec // numbers of frames fit
			first.Place, first.Rules, first.State)
		return err
	})
	if err != nil {
		return now, fmt.Errorf("make trace of %s: %w", first.Session, err)
	}
	return now, nil
}

// hasOrder fails with ErrUnknown for a conversation that is not there.
func (t *Tx) hasOrder(ctx context.Context, session id.Session) error {
	known, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM conversation_counters WHERE session_id = $1`, string(session)))
	if err == nil && !known {
		err = cardlog.ErrUnknown
	}
	return err
}

// removeTrace removes a trace of an earlier life of the store: its numbers may stand for something else now.
func (t *Tx) removeTrace(ctx context.Context, session id.Session, trace id.Trace) error {
	for _, table := range []string{"card_prompts", "card_frames", "card_traces"} {
		if _, err := t.Exec(ctx, `DELETE FROM `+table+` WHERE trace_id = $1`, string(trace)); err != nil {
			return fmt.Errorf("remove %s of %s: %w", table, trace, err)
		}
	}
	return t.dropTimer(ctx, timer.CardOrphans, string(session))
}

// Append implements cardlog.Store.
func (c *Cards) Append(ctx context.Context, from, to cardlog.Checkpoint, frames []cards.Frame, changes int64, due time.Time) error {
	lines, err := packed(from, to, frames)
	if err != nil {
		return err
	}
	return c.writer.Do(ctx, []Lock{lockTrace(from.Session)}, func(ctx context.Context, tx *Tx) error {
		const move = `
UPDATE card_traces SET seq = $5, place = $6, rules = $7, state = $8 WHERE trace_id = $1 AND seq = $2 AND place = $3 AND epoch = $4`
		n, err := tx.Exec(ctx, move, string(from.ID), int64(from.Head), from.Place, string(c.store.Epoch()), int64(to.Head), to.Place, to.Rules, to.State) //nolint:gosec // numbers of frames fit
		switch {
		case err != nil:
			return fmt.Errorf("move trace %s: %w", from.ID, err)
		case n == 0:
			return cardlog.ErrTaken
		}
		if err := tx.unchanged(ctx, from.Session, len(frames), changes); err != nil {
			return err
		}
		if err := tx.insertFrames(ctx, to, frames, lines); err != nil {
			return fmt.Errorf("append to trace %s: %w", from.ID, err)
		}
		if due.IsZero() {
			return nil
		}
		const arm = `
INSERT INTO timers (kind, key, due) VALUES ($1, $2, $3) ON CONFLICT (kind, key) DO UPDATE SET due = excluded.due WHERE timers.due > excluded.due`
		_, err = tx.Exec(ctx, arm, string(timer.CardOrphans), string(from.Session), micros(due))
		return err
	})
}

// unchanged fails with ErrTaken if a message was taken back, or changed otherwise, since facts were read of which there are frames.
func (t *Tx) unchanged(ctx context.Context, session id.Session, frames int, changes int64) error {
	if frames == 0 {
		return nil
	}
	var now int64
	if err := t.QueryRow(ctx, `SELECT last_change FROM conversation_counters WHERE session_id = $1`, string(session)).Scan(&now); err != nil {
		return fmt.Errorf("read changes of %s: %w", session, err)
	}
	if now != changes {
		return cardlog.ErrTaken
	}
	return nil
}

// packed are the lines of frames that lead from one checkpoint to the next.
func packed(from, to cardlog.Checkpoint, frames []cards.Frame) (lines []byte, err error) {
	next := from.Head
	for _, f := range frames {
		next++
		if f.Seq != next || bytes.IndexByte(f.Bytes, '\n') != len(f.Bytes)-1 {
			return nil, fmt.Errorf("frame %d of trace %s is not one line, or not frame %d", f.Seq, from.ID, next)
		}
		lines = append(lines, f.Bytes...)
	}
	if next != to.Head {
		return nil, fmt.Errorf("%d frames do not lead trace %s from %d to %d", len(frames), from.ID, from.Head, to.Head)
	}
	return lines, nil
}

// insertFrames stores a page as one row, and where its questions and the calls of clients' tools are.
func (t *Tx) insertFrames(ctx context.Context, to cardlog.Checkpoint, frames []cards.Frame, lines []byte) error {
	if len(frames) == 0 {
		return nil
	}
	const insert = `INSERT INTO card_frames (trace_id, last_seq, first_seq, place, frames) VALUES ($1, $2, $3, $4, $5)`
	if _, err := t.Exec(ctx, insert, string(to.ID), int64(to.Head), int64(frames[0].Seq), to.Place, lines); err != nil { //nolint:gosec // numbers of frames fit
		return err
	}
	for _, f := range frames {
		if f.Request == "" {
			continue
		}
		const ask = `INSERT INTO card_prompts (request_id, trace_id, seq, card_id) VALUES ($1, $2, $3, $4) ON CONFLICT (request_id) DO NOTHING`
		if _, err := t.Exec(ctx, ask, string(f.Request), string(to.ID), int64(f.Seq), f.Card); err != nil { //nolint:gosec // numbers of frames fit
			return err
		}
	}
	return nil
}
