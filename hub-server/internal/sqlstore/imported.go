package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
)

// Import implements chat.ImportStore. The owner becomes a member last: all that was said is there then, and is no news.
func (c *Chat) Import(ctx context.Context, i chat.Import, claim account.Claim) error {
	s := i.Session
	locks := append(lockSetOf(s.ID, i.Run.ID), lockAttempt(claim.Attempt), lockAgents(i.Agent.Owner))
	return c.writer.Do(ctx, locks, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, claim); err != nil {
			return err
		}
		if err := tx.roomInGroups(ctx, i.Limits, s.Owner, s.Members...); err != nil {
			return err
		}
		if err := tx.insertSession(ctx, s); err != nil {
			return err
		}
		if _, err := tx.insertAgent(ctx, i.Agent, `TRUE`); err != nil {
			return err
		}
		if err := tx.insertRun(ctx, i.Run); err != nil {
			return err
		}
		if err := tx.relive(ctx, i); err != nil {
			return err
		}
		for _, m := range s.Members {
			if err := tx.putMember(ctx, s.ID, m); err != nil {
				return err
			}
			tx.emitJoined(s.ID, m.ID, i.Created)
		}
		return nil
	})
}

// relive stores what has happened in an imported conversation.
func (t *Tx) relive(ctx context.Context, i chat.Import) error {
	head, err := t.head(ctx, i.Run.ID)
	if err != nil {
		return fmt.Errorf("read head of the imported run: %w", err)
	}
	for _, step := range i.Steps {
		g, _ := head.Extend(head.Last, step.Events)
		if err := t.saveGrowth(ctx, noLane, g); err != nil {
			return err
		}
		head = g.Head
		if step.Message == nil {
			continue
		}
		if _, err := t.insertMessage(ctx, *step.Message); err != nil {
			return err
		}
	}
	return nil
}

var _ chat.ImportStore = (*Chat)(nil)
