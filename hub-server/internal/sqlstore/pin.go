package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var _ chat.PinStore = (*Chat)(nil)

// Pin implements chat.PinStore.
func (c *Chat) Pin(ctx context.Context, p chat.Pinning) error {
	return c.change(ctx, p.Change, func(ctx context.Context, tx *Tx, s chat.Standing) error {
		if err := p.May(s); err != nil {
			return err
		}
		const known = `SELECT COUNT(*), COALESCE(SUM(CASE WHEN message_id = $2 THEN 1 ELSE 0 END), 0) FROM message_pins WHERE session_id = $1`
		var pins, this int
		if err := tx.QueryRow(ctx, known, string(p.Session), string(p.Message)).Scan(&pins, &this); err != nil {
			return fmt.Errorf("count pins: %w", err)
		}
		if this > 0 {
			return nil
		}
		if err := chat.RoomForPin(pins); err != nil {
			return err
		}
		const insert = `INSERT INTO message_pins (session_id, message_id, pinned_by, pinned_at) VALUES ($1, $2, $3, $4)`
		if _, err := tx.Exec(ctx, insert, string(p.Session), string(p.Message), string(p.By), micros(p.At)); err != nil {
			return fmt.Errorf("insert pin: %w", err)
		}
		return tx.tellChange(ctx, p.Change, frameMessagePin, p.Frame)
	})
}

// Unpin implements chat.PinStore.
func (c *Chat) Unpin(ctx context.Context, p chat.Pinning) error {
	return c.change(ctx, p.Change, func(ctx context.Context, tx *Tx, _ chat.Standing) error {
		n, err := tx.Exec(ctx, `DELETE FROM message_pins WHERE session_id = $1 AND message_id = $2`, string(p.Session), string(p.Message))
		if err != nil {
			return fmt.Errorf("remove pin: %w", err)
		}
		if n == 0 {
			return nil
		}
		return tx.tellChange(ctx, p.Change, frameMessageUnpin, p.Frame)
	})
}

// Pinned implements chat.PinStore.
func (c *Chat) Pinned(ctx context.Context, s id.Session) ([]chat.Message, error) {
	const query = `SELECT ` + messageColumns + ` FROM messages WHERE session_id = $1 AND id IN (SELECT message_id FROM message_pins WHERE session_id = $1)`
	rows, err := c.store.readDB.QueryContext(ctx, query, string(s))
	messages, err := collect(rows, err, scanMessage)
	if err != nil {
		return nil, fmt.Errorf("read pinned messages: %w", err)
	}
	if err := c.dress(ctx, s, messages); err != nil {
		return nil, err
	}
	messages = slices.DeleteFunc(messages, func(m chat.Message) bool { return m.Pin == nil }) // unpinned between the two reads
	slices.SortFunc(messages, func(a, b chat.Message) int { return b.Pin.At.Compare(a.Pin.At) })
	return messages, nil
}

// dress adds the pins and reactions of messages of one conversation. A message that is as it was sent has none.
func (c *Chat) dress(ctx context.Context, s id.Session, messages []chat.Message) error {
	at := map[id.Message]*chat.Message{}
	var changed []id.Message
	for i := range messages {
		if m := &messages[i]; m.Changed > 0 && !m.Recalled {
			at[m.ID] = m
			changed = append(changed, m.ID)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	rows, err := c.store.readDB.QueryContext(ctx, `SELECT message_id, pinned_by, pinned_at FROM message_pins WHERE session_id = $1`, string(s))
	_, err = collect(rows, err, func(row Scanner) (message id.Message, err error) {
		var p chat.Pin
		var when int64
		err = row.Scan(&message, &p.By, &when)
		if m := at[message]; m != nil {
			p.At = fromMicros(when)
			m.Pin = &p
		}
		return message, err
	})
	if err != nil {
		return fmt.Errorf("read pins: %w", err)
	}
	return c.addReactions(ctx, changed, at)
}

func (c *Chat) addReactions(ctx context.Context, messages []id.Message, at map[id.Message]*chat.Message) error {
	query, args := inList(`SELECT message_id, reaction, user_id FROM message_reactions WHERE message_id IN `, messages)
	rows, err := c.store.readDB.QueryContext(ctx, query+` ORDER BY reacted_at, user_id, reaction`, args...)
	_, err = collect(rows, err, func(row Scanner) (message id.Message, err error) {
		var reaction string
		var user id.User
		if err := row.Scan(&message, &reaction, &user); err != nil {
			return message, err
		}
		m := at[message]
		i := slices.IndexFunc(m.Reactions, func(r chat.Reaction) bool { return r.Reaction == reaction })
		if i < 0 {
			m.Reactions = append(m.Reactions, chat.Reaction{Reaction: reaction})
			i = len(m.Reactions) - 1
		}
		m.Reactions[i].Users = append(m.Reactions[i].Users, user)
		return message, nil
	})
	if err != nil {
		return fmt.Errorf("read reactions: %w", err)
	}
	return nil
}
