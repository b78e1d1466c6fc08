package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// unread is how many messages the member m of a conversation has not read, given its counters c: those behind the mark, but for their own ones and
// those of others that were recalled. Messages are numbered without holes, so only these few are counted, each over an index.
const unread = `c.last_seq - m.last_read_seq
 - (SELECT COUNT(*) FROM messages o WHERE o.session_id = m.session_id AND o.sender_id = m.member_id AND o.seq > m.last_read_seq)
 - (SELECT COUNT(*) FROM messages r
     WHERE r.session_id = m.session_id AND r.seq > m.last_read_seq AND r.recalled_at > 0 AND r.sender_id <> m.member_id)`

// readings says how far the member $1 has read; all numbers are of one moment.
const readings = `SELECT m.session_id, m.last_read_seq, c.last_seq, c.last_change, ` + unread + `
  FROM session_members m JOIN conversation_counters c ON c.session_id = m.session_id
 WHERE m.member_id = $1 AND m.left_at IS NULL`

func scanReading(row Scanner) (s id.Session, r chat.Reading, err error) {
	err = row.Scan(&s, &r.LastRead, &r.LastSeq, &r.LastChange, &r.Unread)
	return s, r, err
}

// count fills in how far the viewer has read the conversations.
func (c *Chat) count(ctx context.Context, viewer id.User, sessions []chat.Session) error {
	if len(sessions) == 0 {
		return nil
	}
	at := make(map[id.Session]int, len(sessions))
	ids := make([]id.Session, len(sessions))
	for i, s := range sessions {
		at[s.ID], ids[i] = i, s.ID
	}
	query, args := inListFrom(2, readings+` AND m.session_id IN `, ids)
	rows, err := c.store.readDB.QueryContext(ctx, query, append([]any{string(viewer)}, args...)...)
	_, err = collect(rows, err, func(row Scanner) (s id.Session, err error) {
		s, r, err := scanReading(row)
		if i, listed := at[s]; listed {
			sessions[i].Reading = r
		}
		return s, err
	})
	if err != nil {
		return fmt.Errorf("count unread messages: %w", err)
	}
	return nil
}

// Unread implements chat.SessionStore.
func (c *Chat) Unread(ctx context.Context, user id.User) (b chat.Badge, err error) {
	const query = `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT), COUNT(*) FROM (SELECT ` + unread + ` AS n
  FROM session_members m JOIN conversation_counters c ON c.session_id = m.session_id JOIN sessions s ON s.id = m.session_id
 WHERE m.member_id = $1 AND m.left_at IS NULL AND NOT m.muted AND s.dissolved_at IS NULL AND c.last_seq > m.last_read_seq) u WHERE n > 0`
	if err = c.store.queryRowPrepared(ctx, query, string(user)).Scan(&b.Messages, &b.Sessions); err != nil {
		return b, fmt.Errorf("count unread messages: %w", err)
	}
	return b, nil
}

// reading says how far a member has read, as it is in this transaction; NotFound.
func (t *Tx) reading(ctx context.Context, s id.Session, user id.User) (chat.Reading, error) {
	_, r, err := scanReading(t.QueryRow(ctx, readings+` AND m.session_id = $2`, string(user), string(s)))
	if errors.Is(err, sql.ErrNoRows) {
		return r, sessionNotFound()
	}
	if err != nil {
		return r, fmt.Errorf("read mark: %w", err)
	}
	return r, nil
}

// tellReading tells a conversation how far a member has read.
func (t *Tx) tellReading(s id.Session, user id.User, r chat.Reading) {
	t.emitToSession(s, frameMessageRead, chat.ReadFrame(s, user, r))
}

// MarkRead implements chat.MessageStore.
func (c *Chat) MarkRead(ctx context.Context, m chat.Mark) (stands chat.Reading, err error) {
	err = c.writer.Do(ctx, []Lock{LockConversation(string(m.Session))}, func(ctx context.Context, tx *Tx) error {
		const move = `
UPDATE session_members SET last_read_seq = $3 WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL AND last_read_seq < $3`
		moved, err := tx.Exec(ctx, move, string(m.Session), string(m.User), int64(m.To)) //nolint:gosec // counts messages
		if err != nil {
			return fmt.Errorf("move read mark: %w", err)
		}
		if stands, err = tx.reading(ctx, m.Session, m.User); err != nil {
			return err
		}
		if moved > 0 {
			tx.tellReading(m.Session, m.User, stands)
		}
		return tx.seenUpTo(ctx, m.User, m.Session, stands.LastRead)
	})
	return stands, err
}
