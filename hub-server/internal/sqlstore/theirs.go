package sqlstore

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// theirs returns what selects the rows that are a user's in a stretch of positions: addressed to them, or inside an interval of a conversation
// that they are in now. The answer is the same either way; it is found from whatever is few, the positions or the conversations.
// $1 the user's audience, $2 after, $3 up to, $4 the user.
func (s *Store) theirs(ctx context.Context, columns string, user id.User, after, upTo delivery.Position) (query string, err error) {
	const count = `SELECT COUNT(*) FROM (SELECT 1 FROM member_intervals WHERE user_id = $1 LIMIT $2) those`
	positions := max(int64(upTo)-int64(after), 0) //nolint:gosec // positions fit: the store gave them
	var intervals int64
	if err := s.queryRowPrepared(ctx, count, string(user), positions).Scan(&intervals); err != nil {
		return "", fmt.Errorf("count memberships: %w", err)
	}
	if intervals == positions { // or more
		return theirsByPosition(columns), nil
	}
	return theirsBySession(columns), nil
}

// theirsBySession looks at each of the user's conversations. CROSS JOIN keeps SQLite to this order: conversations first, then the index on
// (audience, pos).
func theirsBySession(columns string) string {
	return `SELECT ` + columns + ` FROM outbox o WHERE o.audience = $1 AND o.pos > $2 AND o.pos <= $3
UNION ALL
SELECT ` + columns + `
  FROM member_intervals belongs CROSS JOIN member_intervals m CROSS JOIN outbox o
 WHERE belongs.user_id = $4 AND belongs.to_pos IS NULL
   AND m.user_id = belongs.user_id AND m.session_id = belongs.session_id
   AND o.audience = 'session:' || m.session_id AND o.pos > $2 AND o.pos <= $3
   AND o.pos >= m.from_pos AND (m.to_pos IS NULL OR o.pos < m.to_pos)`
}

// theirsByPosition looks at each position, and stops at the limit.
func theirsByPosition(columns string) string {
	return `SELECT ` + columns + ` FROM outbox o WHERE o.pos > $2 AND o.pos <= $3 AND (o.audience = $1 OR EXISTS (
SELECT 1 FROM member_intervals belongs CROSS JOIN member_intervals m
 WHERE o.audience = 'session:' || belongs.session_id
   AND belongs.user_id = $4 AND belongs.session_id = substr(o.audience, 9) AND belongs.to_pos IS NULL
   AND m.user_id = belongs.user_id AND m.session_id = belongs.session_id
   AND m.from_pos <= o.pos AND (m.to_pos IS NULL OR o.pos < m.to_pos)))`
}
