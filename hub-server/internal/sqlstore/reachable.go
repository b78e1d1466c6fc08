package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// mayBring refuses to bring people into a conversation who have blocked whoever does so: they are not there for them.
func (t *Tx) mayBring(ctx context.Context, by id.User, members ...chat.Member) error {
	for _, m := range members {
		user, ok := m.ID.User()
		if !ok || user == by {
			continue
		}
		const query = `SELECT 1 FROM contacts WHERE user_id = $1 AND other_id = $2 AND state = 'blocked'`
		blocked, err := hasRow(t.QueryRow(ctx, query, string(user), string(by)))
		if err != nil {
			return fmt.Errorf("look for block: %w", err)
		}
		if blocked {
			return contact.NotThere()
		}
	}
	return nil
}

// roomInGroups refuses another group to people who are in too many.
func (t *Tx) roomInGroups(ctx context.Context, l chat.Limits, by id.User, members ...chat.Member) error {
	var people []id.User
	for _, m := range members {
		if user, ok := m.ID.User(); ok {
			people = append(people, user)
		}
	}
	if len(people) == 0 {
		return nil
	}
	query, args := inList(`
SELECT m.member_id, COUNT(*) FROM session_members m JOIN sessions s ON s.id = m.session_id
 WHERE m.left_at IS NULL AND s.type = 'group' AND s.dissolved_at IS NULL AND m.member_id IN `, people)
	rows, err := t.Query(ctx, query+` GROUP BY m.member_id`, args...)
	groups := map[id.User]int{}
	_, err = collect(rows, err, func(row Scanner) (user id.User, err error) {
		var n int
		err = row.Scan(&user, &n)
		groups[user] = n
		return user, err
	})
	if err != nil {
		return fmt.Errorf("count groups: %w", err)
	}
	for _, user := range people {
		if err := l.RoomIn(groups[user], user == by); err != nil {
			return err
		}
	}
	return nil
}

// PeopleIn implements chat.PeopleStore.
func (c *Chat) PeopleIn(ctx context.Context, s id.Session, people []id.User) ([]id.User, error) {
	if len(people) == 0 {
		return nil, nil
	}
	query, args := inList(`SELECT member_id FROM session_members WHERE left_at IS NULL AND member_id IN `, people)
	query += ` AND session_id = $` + strconv.Itoa(len(args)+1)
	rows, err := c.store.readDB.QueryContext(ctx, query, append(args, string(s))...)
	return collect(rows, err, scanUserID)
}

func scanUserID(row Scanner) (u id.User, err error) {
	err = row.Scan(&u)
	return u, err
}

// Named implements chat.PeopleStore.
func (c *Chat) Named(ctx context.Context, s id.Session, names []string) ([]id.User, error) {
	query, args := inList(`SELECT u.id FROM users u JOIN session_members m ON m.member_id = u.id AND m.left_at IS NULL WHERE u.name IN `, names)
	query += ` AND m.session_id = $` + strconv.Itoa(len(args)+1) + ` ORDER BY u.id`
	rows, err := c.store.readDB.QueryContext(ctx, query, append(args, string(s))...)
	return collect(rows, err, scanUserID)
}
