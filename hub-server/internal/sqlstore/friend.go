package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var _ presence.Friends = (*Contacts)(nil)

// FriendsOf implements presence.Friends.
func (c *Contacts) FriendsOf(ctx context.Context, u id.User) ([]id.User, error) {
	const query = `SELECT other_id FROM contacts WHERE user_id = $1 AND state = 'friend'`
	rows, err := c.store.readDB.QueryContext(ctx, query, string(u))
	found, err := collect(rows, err, func(row Scanner) (other id.User, err error) {
		err = row.Scan(&other)
		return other, err
	})
	if err != nil {
		return nil, fmt.Errorf("list friends: %w", err)
	}
	return found, nil
}

// AreFriends implements presence.Friends.
func (c *Contacts) AreFriends(ctx context.Context, a, b id.User) (bool, error) {
	const query = `SELECT 1 FROM contacts WHERE user_id = $1 AND other_id = $2 AND state = 'friend'`
	friends, err := hasRow(c.store.readDB.QueryRowContext(ctx, query, string(a), string(b)))
	if err != nil {
		return false, fmt.Errorf("look for friend: %w", err)
	}
	return friends, nil
}
