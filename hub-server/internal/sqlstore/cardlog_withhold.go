package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// rowsOfOne is in how many rows of frames something is looked for that the first of them should tell.
const rowsOfOne = 8

// withhold takes what a message said out of the frames that have told it, in the transaction that takes it back. Whoever holds the lock of the trace does
// so: frames that were made of what the message said before and are not stored yet will not be (Cards.Append).
func (t *Tx) withhold(ctx context.Context, m chat.Message) error {
	var trace id.Trace
	var place int64
	const find = `SELECT c.trace_id, m.place FROM card_traces c JOIN messages m ON m.session_id = c.session_id WHERE c.session_id = $1 AND m.id = $2`
	err := t.QueryRow(ctx, find, string(m.Session), string(m.ID)).Scan(&trace, &place)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find trace of %s: %w", m.ID, err)
	}
	w, places := cards.Withdrawn{Message: m.ID}, []int64{place}
	const began = `
SELECT r.run_id, COALESCE((SELECT MIN(e.place) FROM run_events e WHERE e.run_id = r.run_id), 0) FROM runs r WHERE r.session_id = $1 AND r.trigger_id = $2`
	rows, err := t.Query(ctx, began, string(m.Session), string(m.ID))
	err = scanAll(rows, err, func(row Scanner) error {
		var run id.Run
		err := row.Scan(&run, &place)
		w.Runs, places = append(w.Runs, run), append(places, place)
		return err
	})
	if err != nil {
		return fmt.Errorf("find runs of %s: %w", m.ID, err)
	}
	for _, from := range places {
		if err := t.withholdFrom(ctx, trace, from, w); err != nil {
			return fmt.Errorf("withhold %s from trace %s: %w", m.ID, trace, err)
		}
	}
	return nil
}

// withholdFrom looks at the frames that tell a place, and some behind it.
func (t *Tx) withholdFrom(ctx context.Context, trace id.Trace, place int64, w cards.Withdrawn) error {
	type row struct {
		last  int64
		lines []byte
	}
	const read = `SELECT last_seq, frames FROM card_frames WHERE trace_id = $1 AND place >= $2 ORDER BY last_seq LIMIT $3`
	rows, err := t.Query(ctx, read, string(trace), place, rowsOfOne)
	found, err := collect(rows, err, func(s Scanner) (r row, err error) {
		err = s.Scan(&r.last, &r.lines)
		return r, err
	})
	if err != nil {
		return fmt.Errorf("read frames: %w", err)
	}
	for _, r := range found {
		less, changed, err := withheld(r.lines, w)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		const write = `UPDATE card_frames SET frames = $3 WHERE trace_id = $1 AND last_seq = $2`
		if _, err := t.Exec(ctx, write, string(trace), r.last, less); err != nil {
			return fmt.Errorf("write frames: %w", err)
		}
	}
	return nil
}

// withheld are lines without what a message said.
func withheld(lines []byte, w cards.Withdrawn) (less []byte, changed bool, err error) {
	for line := range bytes.Lines(lines) {
		short, held, err := w.Withhold(line)
		if err != nil {
			return nil, false, err
		}
		if held {
			line, changed = short, true
		}
		less = append(less, line...)
	}
	return less, changed, nil
}
