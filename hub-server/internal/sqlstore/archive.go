package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/peer"
	"github.com/switchyard-dev/switchyard/hub-server/internal/retention"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Archives lets the logs of ended runs leave: retention.Logs.
type Archives struct {
	store  *Store
	writer *Writer
	me     peer.ID
}

var _ retention.Logs = (*Archives)(nil)

// NewArchives reads from s and writes through w, for the hub process me.
func NewArchives(s *Store, w *Writer, me peer.ID) *Archives {
	return &Archives{store: s, writer: w, me: me}
}

// logPassed is true of a run `r` whose events nobody will ask for any more who keeps a place in what was committed. Whoever keeps one adds a line.
func logPassed() string {
	return strings.Join([]string{
		// Clients come back with a place in the outbox, and rows of it refer to events.
		`r.log_pos > 0 AND r.log_pos <= (SELECT COALESCE((SELECT MIN(pos) FROM outbox) - 1, outbox_pos) FROM store_counter WHERE id = 1)`,
		// Cards are told once.
		`NOT ` + untold,
	}, " AND ")
}

// untold is true of a run `r` whose log the card trace of its conversation has not told to the end.
const untold = `EXISTS (
SELECT 1 FROM card_traces t JOIN run_events e ON e.run_id = r.run_id AND e.event_seq = r.last_event_seq
 WHERE t.session_id = r.session_id AND t.place < e.place)`

// mayLeave is true of a run `r` that is over for good. It begins as the index runs_leaving does. $1: since when it has to be quiet.
func mayLeave() string {
	return `r.ended_at > 0 AND r.floor_seq < r.last_event_seq AND ` + logPassed() + `
AND r.ended_at < $1 AND NOT EXISTS (SELECT 1 FROM run_events e WHERE e.run_id = r.run_id AND e.event_seq = r.last_event_seq AND e.recorded_at >= $1)
AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.run_id = r.run_id AND p.state = 'pending')`
}

// Begin implements retention.Logs.
func (a *Archives) Begin(ctx context.Context) (bool, error) {
	on, err := a.writer.RaiseFormat(ctx, FormatArchives)
	if err != nil || !on {
		return false, err
	}
	return true, a.writer.Do(ctx, []Lock{LockAccount("retention:logs")}, func(ctx context.Context, tx *Tx) error {
		// Runs that a hub of an older version has ended: they are as good as ended now.
		const end = `
UPDATE runs SET log_pos = (SELECT outbox_pos FROM store_counter WHERE id = 1)
WHERE log_pos = 0 AND ended_at > 0 AND floor_seq < last_event_seq`
		_, err := tx.Exec(ctx, end)
		return err
	})
}

// Bytes implements retention.Logs.
func (a *Archives) Bytes(ctx context.Context) (kept int64, err error) {
	err = a.store.readDB.QueryRowContext(ctx, `SELECT log_bytes FROM store_counter WHERE id = 1`).Scan(&kept)
	return kept, err
}

// Leaving implements retention.Logs.
func (a *Archives) Leaving(ctx context.Context, after retention.Mark, quiet time.Time, limit int) ([]retention.Leaving, error) {
	query := `
SELECT r.run_id, r.session_id, r.agent_id, r.agent_checksum, r.floor_seq + 1, r.last_event_seq, r.log_pos FROM runs r
WHERE ` + mayLeave() + ` AND (r.log_pos, r.run_id) > ($2, $3) ORDER BY r.log_pos, r.run_id LIMIT $4`
	rows, err := a.store.readDB.QueryContext(ctx, query, micros(quiet), int64(after.End), string(after.Run), limit) //nolint:gosec // the store gave it
	found, err := collect(rows, err, func(row Scanner) (l retention.Leaving, err error) {
		l.Format, l.Epoch = archive.Format, a.store.Epoch()
		err = row.Scan(&l.Run, &l.Session, &l.Agent, &l.AgentChecksum, &l.From, &l.To, &l.End)
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("look for runs that may leave: %w", err)
	}
	return found, nil
}

// Untold implements retention.Logs.
func (a *Archives) Untold(ctx context.Context, quiet time.Time, limit int) ([]id.Session, error) {
	const query = `
SELECT DISTINCT r.session_id FROM runs r
WHERE r.ended_at > 0 AND r.floor_seq < r.last_event_seq AND r.ended_at < $1 AND ` + untold + ` ORDER BY 1 LIMIT $2`
	rows, err := a.store.readDB.QueryContext(ctx, query, micros(quiet), limit)
	found, err := collect(rows, err, func(row Scanner) (s id.Session, err error) {
		err = row.Scan(&s)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("look for traces that hold up runs: %w", err)
	}
	return found, nil
}

// Claim implements retention.Logs. A claim stands as long as its hub lives.
func (a *Archives) Claim(ctx context.Context, l retention.Leaving) (mine bool, err error) {
	const claim = `
INSERT INTO archives (run_id, from_seq, to_seq, state, hub_id, file, sha256, events, payload_bytes, archived_at)
SELECT r.run_id, r.floor_seq + 1, r.last_event_seq, 'writing', $4, '', '', 0, 0, 0 FROM runs r
 WHERE r.run_id = $1 AND r.floor_seq + 1 = $2 AND r.last_event_seq = $3
ON CONFLICT (run_id, from_seq) DO UPDATE SET hub_id = excluded.hub_id, to_seq = excluded.to_seq
 WHERE archives.state = 'writing' AND (archives.hub_id = excluded.hub_id OR NOT EXISTS (SELECT 1 FROM hubs h WHERE h.hub_id = archives.hub_id))`
	err = a.writer.Do(ctx, []Lock{LockRun(string(l.Run))}, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, claim, string(l.Run), int64(l.From), int64(l.To), string(a.me))
		mine = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim %s: %w", l.Run, err)
	}
	return mine, nil
}

// Kept implements retention.Logs.
func (a *Archives) Kept(ctx context.Context, run id.Run, after runlog.EventSeq, limit int) ([]archive.Event, error) {
	rows, err := a.store.queryPrepared(ctx, selectEvents, string(run), int64(after), int64(after)+int64(limit))
	return collect(rows, err, scanPlaced)
}

// errNotKept undoes a leave: the fold that goes on behind it is not kept any more.
var errNotKept = errors.New("no checkpoint is kept")

// Leave implements retention.Logs. Late rows may have come since the claim: they stay, behind the floor.
func (a *Archives) Leave(ctx context.Context, l retention.Leaving, s archive.Summary, kept int64) (left bool, err error) {
	err = a.writer.Do(ctx, []Lock{LockRun(string(l.Run)), lockTrace(l.Session)}, func(ctx context.Context, tx *Tx) error {
		const record = `
UPDATE archives SET state = 'leaving', file = $5, sha256 = $6, events = $7, payload_bytes = $8, archived_at = $9
WHERE run_id = $1 AND from_seq = $2 AND to_seq = $3 AND state = 'writing' AND hub_id = $4`
		n, err := tx.Exec(ctx, record, string(l.Run), int64(l.From), int64(l.To), string(a.me), l.File(), s.SHA256, s.Events, s.Payload, micros(tx.now))
		if left = n > 0; err != nil || !left {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE runs SET floor_seq = $2 WHERE run_id = $1`, string(l.Run), int64(l.To)); err != nil {
			return fmt.Errorf("raise floor: %w", err)
		}
		if kept > 0 {
			if raised, err := tx.raiseFloor(ctx, l.Session, kept); err != nil || !raised {
				return cmp.Or(err, errNotKept)
			}
		}
		_, err = tx.Exec(ctx, `UPDATE store_counter SET log_bytes = log_bytes - $1 WHERE id = 1`, s.Payload)
		return err
	})
	if errors.Is(err, errNotKept) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("let %s leave: %w", l.Run, err)
	}
	return left, nil
}
