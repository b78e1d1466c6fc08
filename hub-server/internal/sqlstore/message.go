package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const messageColumns = `id, session_id, seq, client_msg_id, sender_id, content_type, content, mentions, reply_to, task_ids, created_at,
    attachments, revision, edited_at, recalled_at, changed, forwarded`

func scanMessage(row Scanner) (m chat.Message, err error) {
	var mentions, tasks, attachments, forwarded string
	var created, edited, recalled int64
	err = row.Scan(&m.ID, &m.Session, &m.Seq, &m.ClientMsgID, &m.Sender, &m.ContentType, (*[]byte)(&m.Content), &mentions, &m.ReplyTo,
		&tasks, &created, &attachments, &m.Revision, &edited, &recalled, &m.Changed, &forwarded)
	if err == nil && attachments != "" {
		err = json.Unmarshal([]byte(attachments), &m.Attachments)
	}
	if err == nil && forwarded != "" {
		err = json.Unmarshal([]byte(forwarded), &m.Forwarded)
	}
	m.Mentions, m.Tasks, m.CreatedAt = splitIDs[chat.MemberID](mentions), splitIDs[id.Run](tasks), fromMicros(created)
	m.Recalled = recalled > 0
	if edited > 0 {
		m.EditedAt = fromMicros(edited)
	}
	return m, err
}

// Sent implements chat.MessageStore.
func (c *Chat) Sent(ctx context.Context, s id.Session, client chat.ClientMsgID) (chat.Message, bool, error) {
	return sent(c.store.queryRowPrepared(ctx, selectSent, string(s), string(client)))
}

const selectSent = `SELECT ` + messageColumns + ` FROM messages WHERE session_id = $1 AND client_msg_id = $2 AND client_msg_id <> ''`

func sent(row Scanner) (chat.Message, bool, error) {
	m, err := scanMessage(row)
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, err
}

// Message returns a message by its id, whoever may read it: for projections. NotFound.
func (c *Chat) Message(ctx context.Context, m id.Message) (chat.Message, error) {
	return c.oneMessage(ctx, `SELECT `+messageColumns+` FROM messages WHERE id = $1`, string(m))
}

// MessageIn implements chat.MessageStore.
func (c *Chat) MessageIn(ctx context.Context, s id.Session, m id.Message) (chat.Message, error) {
	found, err := c.oneMessage(ctx, `SELECT `+messageColumns+` FROM messages WHERE id = $1 AND session_id = $2`, string(m), string(s))
	if err != nil {
		return found, err
	}
	one := []chat.Message{found}
	err = c.dress(ctx, s, one)
	return one[0], err
}

func (c *Chat) oneMessage(ctx context.Context, query string, args ...any) (chat.Message, error) {
	m, err := scanMessage(c.store.queryRowPrepared(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return m, messageNotFound()
	}
	return m, err
}

func messageNotFound() error {
	return fault.New(fault.NotFound, "There is no such message in this conversation.")
}

// Before implements chat.MessageStore.
func (c *Chat) Before(ctx context.Context, s id.Session, before chat.Seq, limit int) ([]chat.Message, error) {
	const query = `SELECT ` + messageColumns + ` FROM messages WHERE session_id = $1 AND ($2 = 0 OR seq < $2) ORDER BY seq DESC LIMIT $3`
	rows, err := c.store.readDB.QueryContext(ctx, query, string(s), int64(before), limit)
	messages, err := collect(rows, err, scanMessage)
	slices.Reverse(messages)
	if err != nil {
		return nil, err
	}
	return messages, c.dress(ctx, s, messages)
}

// After implements chat.MessageStore.
func (c *Chat) After(ctx context.Context, s id.Session, after chat.Seq, limit int) ([]chat.Message, error) {
	const query = `SELECT ` + messageColumns + ` FROM messages WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`
	rows, err := c.store.readDB.QueryContext(ctx, query, string(s), int64(after), limit)
	messages, err := collect(rows, err, scanMessage)
	if err != nil {
		return nil, err
	}
	return messages, c.dress(ctx, s, messages)
}

// ChangedAfter implements chat.MessageStore.
func (c *Chat) ChangedAfter(ctx context.Context, s id.Session, after chat.ChangeSeq, limit int) ([]chat.Message, error) {
	const query = `SELECT ` + messageColumns + ` FROM messages WHERE session_id = $1 AND changed > 0 AND changed > $2 ORDER BY changed LIMIT $3`
	rows, err := c.store.readDB.QueryContext(ctx, query, string(s), int64(after), limit)
	messages, err := collect(rows, err, scanMessage)
	if err != nil {
		return nil, err
	}
	return messages, c.dress(ctx, s, messages)
}

// insertAgentMessage stores the final text of a run as a message of its agent and tells the session; once per message id, whoever
// says it again. It needs LockConversation.
func (t *Tx) insertAgentMessage(
	ctx context.Context, msg id.Message, s id.Session, a id.Agent, run id.Run, text string, at time.Time,
) error {
	known, err := hasRow(t.QueryRow(ctx, `SELECT 1 FROM messages WHERE id = $1`, string(msg)))
	if err != nil {
		return fmt.Errorf("look for message: %w", err)
	}
	if known {
		return nil
	}
	m, err := chat.AgentMessage(msg, s, a, run, text, at)
	if err != nil {
		return err
	}
	_, err = t.insertMessage(ctx, m)
	return err
}

// insertMessage gives m the next number of its conversation, stores it and tells the session. It needs LockConversation.
func (t *Tx) insertMessage(ctx context.Context, m chat.Message) (chat.Seq, error) {
	seq, place, err := t.nextMessage(ctx, m.Session)
	if err != nil {
		return 0, err
	}
	if err := t.referAttachments(ctx, m); err != nil {
		return 0, err
	}
	attachments, err := attachmentText(m.Attachments)
	if err != nil {
		return 0, err
	}
	forwarded, err := originText(m.Forwarded)
	if err != nil {
		return 0, err
	}
	m.Seq = seq
	if err := t.execRows(ctx, insertMessages, appendMessage(nil, m, place, attachments, forwarded)); err != nil {
		return 0, fmt.Errorf("insert message: %w", err)
	}
	if err := t.execRows(ctx, insertOrder, []any{string(m.Session), place, 1, "", int64(seq)}); err != nil {
		return 0, fmt.Errorf("enter into the order: %w", err)
	}
	t.emitMessage(m, len(attachments))
	return seq, nil
}

var insertMessages = bulk{
	begin: `
INSERT INTO messages (id, session_id, seq, place, client_msg_id, sender_id, content_type, content, mentions, reply_to, task_ids, created_at,
    attachments, forwarded) VALUES `,
	width: 14,
}

// appendMessage adds the row of a message for insertMessages.
func appendMessage(args []any, m chat.Message, place int64, attachments, forwarded string) []any {
	return append(args, string(m.ID), string(m.Session), int64(m.Seq), place, string(m.ClientMsgID), string(m.Sender), //nolint:gosec // the store gave it
		string(m.ContentType), []byte(m.Content), joinIDs(m.Mentions), string(m.ReplyTo), joinIDs(m.Tasks), micros(m.CreatedAt), attachments, forwarded)
}

// emitMessage tells the conversation of a message, whose attachments take so many bytes.
func (t *Tx) emitMessage(m chat.Message, attachments int) {
	t.Emit(delivery.Row{
		Audience: delivery.ToSession(m.Session), Kind: delivery.KindMessage, Session: m.Session, Message: m.ID, Bytes: len(m.Content) + attachments,
	})
}

// attachmentText is the stored form of attachments.
func attachmentText(all []wire.Attachment) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("encode attachments: %w", err)
	}
	return string(text), nil
}

// nextMessage takes the next number and the next place of a conversation.
func (t *Tx) nextMessage(ctx context.Context, s id.Session) (seq chat.Seq, place int64, err error) {
	const take = `
UPDATE conversation_counters SET last_seq = last_seq + 1, last_place = last_place + 1, updated_at = $2
WHERE session_id = $1 RETURNING last_seq, last_place`
	if err := t.QueryRow(ctx, take, string(s), micros(t.now)).Scan(&seq, &place); err != nil {
		return 0, 0, fmt.Errorf("take message number: %w", err)
	}
	return seq, place, nil
}

func joinIDs[T ~string](ids []T) string {
	var b strings.Builder
	for i, one := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(one))
	}
	return b.String()
}

func splitIDs[T ~string](s string) []T {
	var ids []T
	for one := range strings.FieldsSeq(s) {
		ids = append(ids, T(one))
	}
	return ids
}
