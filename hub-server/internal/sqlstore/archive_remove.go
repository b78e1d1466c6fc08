package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// framesAtOnce is how many rows of card frames leave in one slice: they are larger than events.
const framesAtOnce = 20

// Remove implements retention.Logs. It works on one run at a time, from the beginning of its log.
func (a *Archives) Remove(ctx context.Context, limit int) (removed int, held time.Duration, err error) {
	for removed == 0 && err == nil {
		var l leaving
		if l, err = a.leaving(ctx); errors.Is(err, sql.ErrNoRows) {
			return 0, held, nil
		}
		if err != nil {
			return 0, held, fmt.Errorf("look for what has left: %w", err)
		}
		err = a.writer.Do(ctx, []Lock{LockAccount("retention:logs"), lockTrace(l.session)}, func(ctx context.Context, tx *Tx) (err error) {
			began := time.Now()
			defer func() { held = time.Since(began) }()
			removed, err = tx.removeArchived(ctx, l, limit)
			return err
		})
	}
	return removed, held, err
}

// leaving is a stretch of a log that is in its archive, and being removed.
type leaving struct {
	run      id.Run
	from, to int64
	session  id.Session
	trace    id.Trace // of its conversation, "" if there is none
	gone     int64    // place in the conversation up to which no event is kept any more
}

// leaving returns the first such stretch; sql.ErrNoRows.
func (a *Archives) leaving(ctx context.Context) (l leaving, err error) {
	const query = `
SELECT x.run_id, x.from_seq, x.to_seq, r.session_id, COALESCE(t.trace_id, ''), CASE WHEN t.trace_id IS NULL THEN 0 ELSE COALESCE((
    SELECT MIN(e.place) - 1 FROM runs k JOIN run_events e ON e.run_id = k.run_id AND e.event_seq = k.floor_seq + 1
     WHERE k.session_id = r.session_id AND k.floor_seq < k.last_event_seq), c.last_place) END
FROM archives x JOIN runs r ON r.run_id = x.run_id JOIN conversation_counters c ON c.session_id = r.session_id
  LEFT JOIN card_traces t ON t.session_id = r.session_id
WHERE x.state = 'leaving' ORDER BY x.run_id, x.from_seq LIMIT 1`
	err = a.store.readDB.QueryRowContext(ctx, query).Scan(&l.run, &l.from, &l.to, &l.session, &l.trace, &l.gone)
	return l, err
}

// removeArchived removes a slice of events, then what cards have told of nothing but events that are gone. It returns 0 once there is nothing left.
func (t *Tx) removeArchived(ctx context.Context, l leaving, limit int) (removed int, err error) {
	const slice = ` WHERE run_id = $1 AND event_seq IN (
SELECT event_seq FROM run_events WHERE run_id = $1 AND event_seq >= $2 AND event_seq <= $3 ORDER BY event_seq LIMIT $4)`
	const remember = `INSERT INTO archived_events (run_id, event_id) SELECT run_id, event_id FROM run_events` + slice +
		` AND lane_id IS NOT NULL ON CONFLICT (run_id, event_id) DO NOTHING`
	if _, err := t.Exec(ctx, remember, string(l.run), l.from, l.to, limit); err != nil {
		return 0, fmt.Errorf("remember ids: %w", err)
	}
	const span = `SELECT COALESCE(MIN(place), 0), COALESCE(MAX(place), 0) FROM run_events` + slice
	var first, last int64
	if err := t.QueryRow(ctx, span, string(l.run), l.from, l.to, limit).Scan(&first, &last); err != nil {
		return 0, fmt.Errorf("read places: %w", err)
	}
	if err := t.removeOrder(ctx, l, first, last); err != nil {
		return 0, err
	}
	n, err := t.Exec(ctx, `DELETE FROM run_events`+slice, string(l.run), l.from, l.to, limit)
	if removed = int(n); err != nil || removed == limit {
		return removed, err
	}
	frames, err := t.removeFrames(ctx, l)
	if err != nil || frames == framesAtOnce {
		return removed + frames, err
	}
	_, err = t.Exec(ctx, `UPDATE archives SET state = 'gone' WHERE run_id = $1 AND from_seq = $2 AND state = 'leaving'`, string(l.run), l.from)
	return removed + frames, err
}

// removeOrder removes the order of events that are removed between two places. Whoever reads the conversation from the beginning enters one row for all
// that has left between two messages.
func (t *Tx) removeOrder(ctx context.Context, l leaving, first, last int64) error {
	const remove = `
DELETE FROM conversation_order WHERE session_id = $1 AND run_id = $2 AND place <= $4 AND place + places - 1 <= $4
  AND place >= COALESCE((SELECT MAX(o.place) FROM conversation_order o WHERE o.session_id = $1 AND o.place <= $3), 0)`
	if _, err := t.Exec(ctx, remove, string(l.session), string(l.run), first, last); err != nil {
		return fmt.Errorf("remove order: %w", err)
	}
	return nil
}

// removeFrames removes rows of frames from the beginning of a trace, all of whose events are gone. Questions that wait for somebody are in none of
// them: their runs stay.
func (t *Tx) removeFrames(ctx context.Context, l leaving) (removed int, err error) {
	const find = `
SELECT COALESCE(MAX(last_seq), 0), COUNT(*) FROM (
    SELECT last_seq FROM card_frames WHERE trace_id = $1 AND place <= $2 ORDER BY last_seq LIMIT $3) oldest`
	var last int64
	err = t.QueryRow(ctx, find, string(l.trace), l.gone, framesAtOnce).Scan(&last, &removed)
	if err != nil || removed == 0 {
		return 0, err
	}
	for _, statement := range []string{
		`UPDATE card_traces SET floor_seq = $2 WHERE trace_id = $1`,
		`DELETE FROM card_frames WHERE trace_id = $1 AND last_seq <= $2`,
		`DELETE FROM card_prompts WHERE trace_id = $1 AND seq <= $2`,
	} {
		if _, err := t.Exec(ctx, statement, string(l.trace), last); err != nil {
			return 0, fmt.Errorf("remove frames: %w", err)
		}
	}
	return removed, nil
}
