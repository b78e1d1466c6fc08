package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

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
	const insert = `
INSERT INTO messages (id, session_id, seq, place, client_msg_id, sender_id, content_type, content, mentions, reply_to, task_ids, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	_, err = t.Exec(ctx, insert, string(m.ID), string(m.Session), int64(seq), place, string(m.ClientMsgID), string(m.Sender),
		string(m.ContentType), []byte(m.Content), joinIDs(m.Mentions), string(m.ReplyTo), joinIDs(m.Tasks), micros(m.CreatedAt))
	if err != nil {
		return 0, fmt.Errorf("insert message: %w", err)
	}
	t.Emit(delivery.Row{Audience: delivery.ToSession(m.Session), Kind: delivery.KindMessage, Session: m.Session, Message: m.ID})
	return seq, nil
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
