package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Block implements contact.Store.
func (c *Contacts) Block(ctx context.Context, by, other id.User, l contact.Limits) (ended bool, err error) {
	err = c.writer.Do(ctx, []Lock{lockPair(by, other), lockContacts(by)}, func(ctx context.Context, tx *Tx) error {
		known, err := tx.userExists(ctx, other)
		if err != nil {
			return fmt.Errorf("look for user: %w", err)
		}
		if !known {
			return contact.NotThere()
		}
		if ended, err = tx.part(ctx, by, other); err != nil {
			return err
		}
		mine, _, err := tx.between(ctx, by, other)
		if err != nil || mine.State == contact.Blocked {
			return err
		}
		all, _, err := tx.countContacts(ctx, by)
		if err != nil {
			return err
		}
		if err := l.Mine(all, 0); err != nil {
			return err
		}
		return tx.putContact(ctx, by, other, contact.Blocked, "", "")
	})
	return ended && err == nil, err
}

// Unblock implements contact.Store.
func (c *Contacts) Unblock(ctx context.Context, by, other id.User) error {
	return c.writer.Do(ctx, []Lock{lockPair(by, other)}, func(ctx context.Context, tx *Tx) error {
		const drop = `DELETE FROM contacts WHERE user_id = $1 AND other_id = $2 AND state = 'blocked'`
		_, err := tx.Exec(ctx, drop, string(by), string(other))
		return err
	})
}
