package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
)

// lockAttempt makes two requests with the same Idempotency-Key wait for each other.
func lockAttempt(a account.Attempt) Lock {
	return LockIdempotency(string(a.User) + "\n" + a.Route + "\n" + a.Key)
}

const selectAnswer = `
SELECT request_hash, answer FROM attempts WHERE user_id = $1 AND route = $2 AND attempt_key = $3 AND created_at > $4`

// scanAnswer returns nil when there is no answer, and a conflict when the key belongs to another request.
func scanAnswer(row Scanner, a account.Attempt) ([]byte, error) {
	var hash, answer []byte
	switch err := row.Scan(&hash, &answer); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read attempt: %w", err)
	}
	return answer, a.SameRequest(hash)
}

// PriorAnswer implements account.AttemptStore.
func (a *Accounts) PriorAnswer(ctx context.Context, at account.Attempt, since time.Time) ([]byte, error) {
	row := a.store.readDB.QueryRowContext(ctx, selectAnswer, string(at.User), at.Route, at.Key, micros(since))
	return scanAnswer(row, at)
}

// claim records the answer of an attempt beside its effect. It comes before the effect in its transaction, under lockAttempt, and
// returns *account.Repeated when the effect must not happen again. Answers that are too old go away on the way.
func (t *Tx) claim(ctx context.Context, c account.Claim) error {
	since := micros(t.now.Add(-account.AttemptLifetime))
	prior, err := scanAnswer(t.QueryRow(ctx, selectAnswer, string(c.User), c.Route, c.Key, since), c.Attempt)
	if err != nil {
		return err
	}
	if prior != nil {
		return &account.Repeated{Answer: prior}
	}
	if _, err := t.Exec(ctx, `DELETE FROM attempts WHERE user_id = $1 AND created_at <= $2`, string(c.User), since); err != nil {
		return fmt.Errorf("drop old attempts: %w", err)
	}
	const insert = `INSERT INTO attempts (user_id, route, attempt_key, request_hash, answer, created_at) VALUES ($1, $2, $3, $4, $5, $6)`
	_, err = t.Exec(ctx, insert, string(c.User), c.Route, c.Key, c.Request[:], c.Answer, micros(t.now))
	if err != nil {
		return fmt.Errorf("record attempt: %w", err)
	}
	return nil
}
