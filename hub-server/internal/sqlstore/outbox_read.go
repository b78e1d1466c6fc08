package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// outboxColumns end with the store's format at the moment of reading: what is read is understood only if that is.
const outboxColumns = `o.pos, o.audience, o.kind, o.frame_type, o.payload, o.session_id, o.message_id, o.run_id,
	o.request_id, o.from_seq, o.to_seq, o.change, o.change_user, o.bytes, (SELECT format FROM store_counter WHERE id = 1)`

// Bounds implements delivery.Outbox.
func (s *Store) Bounds(ctx context.Context) (delivery.Bounds, error) {
	const query = `SELECT outbox_pos, COALESCE((SELECT MIN(pos) FROM outbox) - 1, outbox_pos) FROM store_counter WHERE id = 1`
	b := delivery.Bounds{Epoch: s.Epoch()}
	if err := s.queryRowPrepared(ctx, query).Scan(&b.Head, &b.Floor); err != nil {
		return delivery.Bounds{}, fmt.Errorf("read outbox bounds: %w", err)
	}
	return b, nil
}

// Rows implements delivery.Outbox.
func (s *Store) Rows(ctx context.Context, after delivery.Position, limit int) ([]delivery.Row, error) {
	const query = `SELECT ` + outboxColumns + ` FROM outbox o WHERE o.pos > $1 ORDER BY o.pos LIMIT $2`
	return outboxRows(s.queryPrepared(ctx, query, int64(after), limit)) //nolint:gosec // positions fit: the store gave them
}

// RowsFor implements delivery.Outbox.
func (s *Store) RowsFor(ctx context.Context, user id.User, after, upTo delivery.Position, limit int) ([]delivery.Row, error) {
	query, err := s.theirs(ctx, outboxColumns, user, after, upTo)
	if err != nil {
		return nil, err
	}
	rows, err := outboxRows(s.queryPrepared(ctx, query+` ORDER BY 1 LIMIT $5`,
		string(delivery.ToUser(user)), int64(after), int64(upTo), string(user), limit))
	if err != nil {
		return nil, err
	}
	// Afterwards: a floor that is not above after now was not when the rows were read.
	bounds, err := s.Bounds(ctx)
	if err == nil && after < bounds.Floor {
		err = fmt.Errorf("read after %d: %w", after, delivery.ErrTrimmed)
	}
	return rows, err
}

// Backlog implements delivery.Outbox.
func (s *Store) Backlog(ctx context.Context, user id.User, after, upTo delivery.Position, limit int) (delivery.Backlog, error) {
	query, err := s.theirs(ctx, `o.bytes`, user, after, upTo)
	if err != nil {
		return delivery.Backlog{}, err
	}
	query = `SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM (` + query + ` LIMIT $5) missed`
	var b delivery.Backlog
	err = s.queryRowPrepared(ctx, query,
		string(delivery.ToUser(user)), int64(after), int64(upTo), string(user), limit).Scan(&b.Rows, &b.Bytes)
	if err != nil {
		return delivery.Backlog{}, fmt.Errorf("measure backlog: %w", err)
	}
	return b, nil
}

// SessionsOf implements delivery.Outbox.
func (s *Store) SessionsOf(ctx context.Context, user id.User, at delivery.Position) ([]id.Session, error) {
	const query = `SELECT session_id FROM member_intervals WHERE user_id = $1 AND from_pos <= $2 AND (to_pos IS NULL OR to_pos > $2)`
	rows, err := s.queryPrepared(ctx, query, string(user), int64(at))
	if err != nil {
		return nil, fmt.Errorf("read memberships: %w", err)
	}
	defer rows.Close()
	var sessions []id.Session
	for rows.Next() {
		var session id.Session
		if err := rows.Scan(&session); err != nil {
			return nil, fmt.Errorf("read memberships: %w", err)
		}
		sessions = append(sessions, session)
	}
	return sessions, rows.Err()
}

// outboxRows reads and closes the result of a query for outboxColumns.
func outboxRows(rows *sql.Rows, err error) ([]delivery.Row, error) {
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	defer rows.Close()
	var found []delivery.Row
	for rows.Next() {
		var r delivery.Row
		var format Format
		err := rows.Scan(&r.Position, &r.Audience, &r.Kind, &r.FrameType, &r.Payload, &r.Session, &r.Message, &r.Run,
			&r.Prompt, &r.From, &r.To, &r.Change, &r.ChangeUser, &r.Bytes, &format)
		if err == nil {
			err = format.check()
		}
		if err != nil {
			return nil, fmt.Errorf("read outbox row: %w", err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	return found, nil
}
