package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
)

var _ chat.ChangeStore = (*Chat)(nil)

// Recall implements chat.ChangeStore.
func (c *Chat) Recall(ctx context.Context, r chat.Recall) error {
	locks := []Lock{LockConversation(string(r.Session)), lockTrace(r.Session)}
	return c.changeLocked(ctx, locks, r.Change, func(ctx context.Context, tx *Tx, s chat.Standing) error {
		if s.Message.Recalled {
			return nil
		}
		if err := r.May(s); err != nil {
			return err
		}
		if err := tx.withhold(ctx, s.Message); err != nil {
			return err
		}
		if err := tx.revise(ctx, chat.Message{ID: r.Message, Session: r.Session, Recalled: true}); err != nil {
			return err
		}
		return tx.recall(ctx, r, s)
	})
}

func (t *Tx) recall(ctx context.Context, r chat.Recall, s chat.Standing) error {
	const erase = `
UPDATE messages SET content = $2, attachments = '', mentions = '', reply_to = '', forwarded = '', recalled_at = $3, recalled_by = $4 WHERE id = $1`
	if _, err := t.Exec(ctx, erase, string(r.Message), []byte(`{}`), micros(t.now), string(r.By)); err != nil {
		return fmt.Errorf("erase message: %w", err)
	}
	if _, err := t.Exec(ctx, `DELETE FROM message_reactions WHERE message_id = $1`, string(r.Message)); err != nil {
		return fmt.Errorf("remove reactions: %w", err)
	}
	pinned, err := t.Exec(ctx, `DELETE FROM message_pins WHERE session_id = $1 AND message_id = $2`, string(r.Session), string(r.Message))
	if err != nil {
		return fmt.Errorf("remove pin: %w", err)
	}
	number, err := t.countChange(ctx, r.Change)
	if err != nil {
		return err
	}
	if pinned > 0 {
		t.emitOfMessage(r.Change, frameMessageUnpin, numbered(r.Unpin, number))
	}
	t.emitOutdating(r.Change, frameMessageRecall, numbered(r.Frame, number))
	if s.Message.Sender != chat.OfUser(r.By) {
		t.Audit(audit.Entry{Act: audit.MessageTaken, User: r.By, Target: string(r.Message)})
	}
	return nil
}

// Edit implements chat.ChangeStore.
func (c *Chat) Edit(ctx context.Context, e chat.Edit) error {
	attachments, err := attachmentText(e.Attachments)
	if err != nil {
		return err
	}
	locks := []Lock{LockConversation(string(e.Session)), lockTrace(e.Session)}
	if len(chat.Uploads(e.Attachments)) > 0 {
		locks = append(locks, lockFiles(e.By))
	}
	return c.changeLocked(ctx, locks, e.Change, func(ctx context.Context, tx *Tx, s chat.Standing) error {
		if err := e.May(s); err != nil {
			return err
		}
		before, err := attachmentText(s.Message.Attachments)
		if err != nil || before == attachments && bytes.Equal(s.Message.Content, e.Content) && slices.Equal(s.Message.Mentions, e.Mentions) {
			return err
		}
		s.Message.Attachments, s.Message.Content = e.Attachments, e.Content
		if err := tx.referAttachments(ctx, s.Message); err != nil {
			return err
		}
		if err := tx.revise(ctx, s.Message); err != nil {
			return err
		}
		revision := s.Message.Revision + 1
		const edit = `UPDATE messages SET content = $2, attachments = $3, revision = $4, edited_at = $5, mentions = $6 WHERE id = $1`
		_, err = tx.Exec(ctx, edit, string(e.Message), e.Content, attachments, int64(revision), micros(tx.now), joinIDs(e.Mentions))
		if err != nil {
			return fmt.Errorf("edit message: %w", err)
		}
		tx.Emit(delivery.Row{
			Audience: delivery.ToSession(e.Session), Kind: delivery.KindMessage, Session: e.Session, Message: e.Message, From: uint64(revision),
			Bytes: len(e.Content) + len(attachments),
		})
		_, err = tx.countChange(ctx, e.Change)
		return err
	})
}

// change runs a change of a message if who wants it is a member, with what the change is judged by.
func (c *Chat) change(ctx context.Context, ch chat.Change, do func(context.Context, *Tx, chat.Standing) error) error {
	return c.changeLocked(ctx, []Lock{LockConversation(string(ch.Session))}, ch, do)
}

func (c *Chat) changeLocked(ctx context.Context, locks []Lock, ch chat.Change, do func(context.Context, *Tx, chat.Standing) error) error {
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.mayPost(ctx, ch.Session, ch.By); err != nil {
			return err
		}
		s, err := tx.standing(ctx, ch)
		if err != nil {
			return err
		}
		return do(ctx, tx, s)
	})
}

func (t *Tx) standing(ctx context.Context, ch chat.Change) (s chat.Standing, err error) {
	const message = `SELECT ` + messageColumns + ` FROM messages WHERE id = $1 AND session_id = $2`
	s.Message, err = scanMessage(t.QueryRow(ctx, message, string(ch.Message), string(ch.Session)))
	if errors.Is(err, sql.ErrNoRows) {
		return s, messageNotFound()
	}
	if err != nil {
		return s, fmt.Errorf("read message: %w", err)
	}
	const session = `SELECT type, owner_id FROM sessions WHERE id = $1`
	if err := t.QueryRow(ctx, session, string(ch.Session)).Scan(&s.Type, &s.Owner); err != nil {
		return s, fmt.Errorf("read conversation: %w", err)
	}
	return s, nil
}

// countChange gives the message the next number among the changes of its conversation.
func (t *Tx) countChange(ctx context.Context, ch chat.Change) (number int64, err error) {
	const take = `UPDATE conversation_counters SET last_change = last_change + 1 WHERE session_id = $1 RETURNING last_change`
	if err := t.QueryRow(ctx, take, string(ch.Session)).Scan(&number); err != nil {
		return 0, fmt.Errorf("take change number: %w", err)
	}
	if _, err := t.Exec(ctx, `UPDATE messages SET changed = $2 WHERE id = $1`, string(ch.Message), number); err != nil {
		return 0, fmt.Errorf("number change: %w", err)
	}
	return number, nil
}

// tellChange counts a change and tells the conversation of it.
func (t *Tx) tellChange(ctx context.Context, ch chat.Change, frame string, payload []byte) error {
	number, err := t.countChange(ctx, ch)
	if err == nil {
		t.emitOfMessage(ch, frame, numbered(payload, number))
	}
	return err
}

// numbered is a frame's payload with the number of the change that it tells of: a device that has it has all changes before.
func numbered(payload []byte, number int64) []byte {
	object := bytes.TrimSuffix(payload, []byte("}"))
	return fmt.Appendf(bytes.Clone(object), `,"change_seq":%d}`, number)
}

// outdates marks a row behind which whatever was read of its message before is out of date.
const outdates = 1

// emitOfMessage tells a conversation what has become of a message.
func (t *Tx) emitOfMessage(ch chat.Change, frame string, payload []byte) {
	t.Emit(delivery.Row{
		Audience: delivery.ToSession(ch.Session), Kind: delivery.KindFrame, FrameType: frame, Payload: payload, Session: ch.Session, Message: ch.Message,
	})
}

// emitOutdating is emitOfMessage for what makes the message another.
func (t *Tx) emitOutdating(ch chat.Change, frame string, payload []byte) {
	t.Emit(delivery.Row{
		Audience: delivery.ToSession(ch.Session), Kind: delivery.KindFrame, FrameType: frame, Payload: payload, Session: ch.Session,
		Message: ch.Message, From: outdates,
	})
}
