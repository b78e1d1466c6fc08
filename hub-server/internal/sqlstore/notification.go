package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/hub-server/internal/prompt"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const frameNotification = "notification.new" // S3

// Notices keeps what people are told: notice.Store.
type Notices struct {
	store  *Store
	writer *Writer
}

var _ notice.Store = (*Notices)(nil)

// NewNotices reads from s and writes through w.
func NewNotices(s *Store, w *Writer) *Notices { return &Notices{store: s, writer: w} }

// notify tells people something in the transaction of what it is about, each once of one subject. Of a conversation those are told who are in it
// and have not muted it.
func (t *Tx) notify(ctx context.Context, notices ...notice.Notice) error {
	for _, n := range notices {
		if err := t.notifyOne(ctx, n); err != nil {
			return fmt.Errorf("notify of %s: %w", n.Type, err)
		}
	}
	return nil
}

func (t *Tx) notifyOne(ctx context.Context, n notice.Notice) error {
	if n.Session != "" {
		const listening = selectMember + ` AND NOT muted`
		if listens, err := hasRow(t.QueryRow(ctx, listening, string(n.Session), string(n.User))); err != nil || !listens {
			return err
		}
	}
	const insert = `
INSERT INTO notifications (id, user_id, type, subject, payload, session_id, seq, read_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, COALESCE((SELECT last_seq FROM conversation_counters WHERE session_id = $6), 0), 0, $7)
ON CONFLICT (user_id, type, subject) DO NOTHING`
	n.CreatedAt = t.now
	told, err := t.Exec(ctx, insert, string(n.ID), string(n.User), string(n.Type), n.Subject, []byte(n.Payload),
		string(n.Session), micros(n.CreatedAt))
	if err == nil && told > 0 {
		err = t.emitNotice(ctx, n)
	}
	return err
}

// emitNotice tells all devices of a person what stands: those that are connected by a frame, the others by a push, which is taken back once it was
// read.
func (t *Tx) emitNotice(ctx context.Context, n notice.Notice) error {
	t.Emit(delivery.Row{
		Audience: delivery.ToUser(n.User), Kind: delivery.KindFrame, FrameType: frameNotification, Payload: notice.Frame(n),
	})
	if n.Read {
		return t.withdrawPush(ctx, string(n.ID), n.User)
	}
	o := occasion{notification: string(n.ID), user: n.User, kind: string(n.Type), session: n.Session}
	switch n.Type {
	case notice.Mention:
		o.message = id.Message(n.Subject)
	case notice.AgentDone:
		o.run = id.Run(n.Subject)
	}
	return t.planPush(ctx, o)
}

const noticeColumns = `id, user_id, type, subject, payload, session_id, read_at, created_at`

func scanNotice(row Scanner) (n notice.Notice, err error) {
	var read, created int64
	err = row.Scan(&n.ID, &n.User, &n.Type, &n.Subject, (*[]byte)(&n.Payload), &n.Session, &read, &created)
	n.Read, n.CreatedAt = read != 0, fromMicros(created)
	return n, err
}

// Notices implements notice.Store.
func (n *Notices) Notices(ctx context.Context, q notice.Query) ([]notice.Notice, error) {
	query := `SELECT ` + noticeColumns + ` FROM notifications WHERE user_id = $1`
	if q.Unread {
		query += ` AND read_at = 0` // as the index of them says
	}
	query += ` AND ($3 = '' OR created_at < $2 OR (created_at = $2 AND id < $3)) ORDER BY created_at DESC, id DESC LIMIT $4`
	rows, err := n.store.readDB.QueryContext(ctx, query, string(q.User), micros(q.After.At), q.After.ID, q.Limit)
	found, err := collect(rows, err, scanNotice)
	if err != nil {
		return nil, fmt.Errorf("list notifications: %w", err)
	}
	return found, nil
}

// Questions implements notice.Store.
func (n *Notices) Questions(ctx context.Context, q notice.Query) ([]prompt.Prompt, error) {
	query := selectPrompt + ` WHERE ` + mayBeAnswered
	if q.Unread {
		query += ` AND p.state = 'pending'`
	}
	query += `
AND ($3 = '' OR p.asked_at < $2 OR (p.asked_at = $2 AND p.request_id < $3)) ORDER BY p.asked_at DESC, p.request_id DESC LIMIT $4`
	rows, err := n.store.readDB.QueryContext(ctx, query, string(q.User), micros(q.After.At), q.After.ID, q.Limit)
	found, err := collect(rows, err, scanPrompt)
	if err != nil {
		return nil, fmt.Errorf("list questions: %w", err)
	}
	return found, nil
}

// MayAnswer implements notice.Store.
func (n *Notices) MayAnswer(ctx context.Context, user id.User, request id.Request) (bool, error) {
	const query = `SELECT 1` + fromPrompts + ` WHERE p.request_id = $2 AND ` + mayBeAnswered
	return hasRow(n.store.readDB.QueryRowContext(ctx, query, string(user), string(request)))
}

// Unread implements notice.Store.
func (n *Notices) Unread(ctx context.Context, user id.User) (count int, err error) {
	const query = `SELECT (SELECT COUNT(*) FROM notifications WHERE user_id = $1 AND read_at = 0) +
(SELECT COUNT(*)` + fromPrompts + ` WHERE p.state = 'pending' AND ` + mayBeAnswered + `)`
	if err := n.store.readDB.QueryRowContext(ctx, query, string(user)).Scan(&count); err != nil {
		return 0, fmt.Errorf("count notifications: %w", err)
	}
	return count, nil
}

// Read implements notice.Store.
func (n *Notices) Read(ctx context.Context, user id.User, item id.Notification) (read notice.Notice, err error) {
	err = n.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const mark = `UPDATE notifications SET read_at = $3 WHERE id = $1 AND user_id = $2 AND read_at = 0 RETURNING ` + noticeColumns
		read, err = scanNotice(tx.QueryRow(ctx, mark, string(item), string(user), micros(tx.now)))
		if err == nil {
			return tx.emitNotice(ctx, read)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("mark notification: %w", err)
		}
		const find = `SELECT ` + noticeColumns + ` FROM notifications WHERE id = $1 AND user_id = $2`
		read, err = scanNotice(tx.QueryRow(ctx, find, string(item), string(user)))
		if errors.Is(err, sql.ErrNoRows) {
			return fault.New(fault.NotFound, "There is no such notification.")
		}
		return err
	})
	return read, err
}

// ReadAll implements notice.Store.
func (n *Notices) ReadAll(ctx context.Context, user id.User, upTo time.Time, limit int) (count int, err error) {
	err = n.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const mark = `
UPDATE notifications SET read_at = $3 WHERE read_at = 0 AND id IN (
    SELECT id FROM notifications WHERE user_id = $1 AND read_at = 0 AND created_at <= $2 ORDER BY created_at, id LIMIT $4)
RETURNING ` + noticeColumns
		rows, err := tx.Query(ctx, mark, string(user), micros(upTo), micros(tx.now), limit)
		read, err := collect(rows, err, scanNotice)
		if err != nil {
			return fmt.Errorf("mark notifications: %w", err)
		}
		for _, one := range read {
			if err := tx.emitNotice(ctx, one); err != nil {
				return err
			}
		}
		count = len(read)
		return nil
	})
	return count, err
}

// seenUpTo marks what a person was told of a conversation as read when they have read the messages that it is about.
func (t *Tx) seenUpTo(ctx context.Context, user id.User, session id.Session, seq chat.Seq) error {
	const mark = `
UPDATE notifications SET read_at = $4 WHERE user_id = $1 AND read_at = 0 AND session_id = $2 AND seq <= $3 RETURNING ` + noticeColumns
	return t.settleAll(ctx, mark, string(user), string(session), int64(seq), micros(t.now))
}

// settle marks what a person was told of a subject as read: nothing is left to be done about it.
func (t *Tx) settle(ctx context.Context, user id.User, about notice.Type, subject string) error {
	const mark = `
UPDATE notifications SET read_at = $4 WHERE user_id = $1 AND type = $2 AND subject = $3 AND read_at = 0 RETURNING ` + noticeColumns
	return t.settleAll(ctx, mark, string(user), string(about), subject, micros(t.now))
}

// settleAll tells the owners of the notices that a statement marks.
func (t *Tx) settleAll(ctx context.Context, mark string, args ...any) error {
	rows, err := t.Query(ctx, mark, args...)
	read, err := collect(rows, err, scanNotice)
	if err != nil {
		return fmt.Errorf("settle notifications: %w", err)
	}
	for _, n := range read {
		if err := t.emitNotice(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
