package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
)

var _ chat.ReactionStore = (*Chat)(nil)

// React implements chat.ReactionStore.
func (c *Chat) React(ctx context.Context, r chat.Reacting) error {
	return c.change(ctx, r.Change, func(ctx context.Context, tx *Tx, s chat.Standing) error {
		if err := r.May(s); err != nil {
			return err
		}
		var all, same, mine int
		const count = `
SELECT COUNT(*), COALESCE(SUM(CASE WHEN reaction = $2 THEN 1 ELSE 0 END), 0),
    COALESCE(SUM(CASE WHEN reaction = $2 AND user_id = $3 THEN 1 ELSE 0 END), 0) FROM message_reactions WHERE message_id = $1`
		if err := tx.QueryRow(ctx, count, string(r.Message), r.Reaction, string(r.By)).Scan(&all, &same, &mine); err != nil {
			return fmt.Errorf("count reactions: %w", err)
		}
		if mine > 0 {
			return nil
		}
		if err := chat.RoomForReaction(all); err != nil {
			return err
		}
		const insert = `INSERT INTO message_reactions (message_id, reaction, user_id, reacted_at) VALUES ($1, $2, $3, $4)`
		if _, err := tx.Exec(ctx, insert, string(r.Message), r.Reaction, string(r.By), micros(tx.now)); err != nil {
			return fmt.Errorf("insert reaction: %w", err)
		}
		return tx.tellReaction(ctx, r, frameReactionAdded, same+1)
	})
}

// Unreact implements chat.ReactionStore.
func (c *Chat) Unreact(ctx context.Context, r chat.Reacting) error {
	return c.change(ctx, r.Change, func(ctx context.Context, tx *Tx, _ chat.Standing) error {
		const remove = `DELETE FROM message_reactions WHERE message_id = $1 AND reaction = $2 AND user_id = $3`
		n, err := tx.Exec(ctx, remove, string(r.Message), r.Reaction, string(r.By))
		if err != nil {
			return fmt.Errorf("remove reaction: %w", err)
		}
		if n == 0 {
			return nil
		}
		var left int
		const count = `SELECT COUNT(*) FROM message_reactions WHERE message_id = $1 AND reaction = $2`
		if err := tx.QueryRow(ctx, count, string(r.Message), r.Reaction).Scan(&left); err != nil {
			return fmt.Errorf("count reactions: %w", err)
		}
		return tx.tellReaction(ctx, r, frameReactionGone, left)
	})
}

func (t *Tx) tellReaction(ctx context.Context, r chat.Reacting, frame string, count int) error {
	payload, err := r.Frame(count)
	if err != nil {
		return err
	}
	return t.tellChange(ctx, r.Change, frame, payload)
}
