package sqlstore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
)

func (t *Tx) insertRefreshToken(ctx context.Context, hash account.TokenHash, f account.Family, at time.Time) error {
	const insert = `INSERT INTO refresh_tokens (token_hash, family, issued_at) VALUES ($1, $2, $3)`
	if _, err := t.Exec(ctx, insert, hash[:], string(f), micros(at)); err != nil {
		return fmt.Errorf("insert refresh token: %w", err)
	}
	return nil
}

// Rotate implements account.DeviceStore. Of any number of requests with the same token one rotates; the lock makes the others see it.
func (a *Accounts) Rotate(ctx context.Context, r account.Rotation) (out account.Rotated, err error) {
	lock := LockAccount("refresh:" + hex.EncodeToString(r.Presented[:]))
	err = a.writer.Do(ctx, []Lock{lock}, func(ctx context.Context, tx *Tx) error {
		out = account.Rotated{}
		state, err := tx.readRefreshToken(ctx, r.Presented, &out)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // Refuse
		}
		if err != nil {
			return fmt.Errorf("read refresh token: %w", err)
		}
		out.Verdict = account.JudgeRefresh(state, r.Now)
		switch out.Verdict {
		case account.Rotate:
			return tx.replaceRefreshToken(ctx, r, out.Device.Family)
		case account.Theft:
			if err := tx.endFamily(ctx, out.Device.Family, account.TokenReused, r.Now); err != nil {
				return err
			}
			n, err := notice.LoginEnded(out.User.ID, out.Device.ID)
			if err != nil {
				return err
			}
			return tx.notify(ctx, n)
		}
		return nil
	})
	return out, err
}

func (t *Tx) readRefreshToken(ctx context.Context, hash account.TokenHash, out *account.Rotated) (account.TokenState, error) {
	const query = `SELECT ` + deviceColumns + `, ` + userColumns + `, d.ended_at, d.expires_at, t.replaced_at, t.successor
FROM refresh_tokens t JOIN devices d ON d.family = t.family JOIN users u ON u.id = d.user_id WHERE t.token_hash = $1`
	var ended, replaced sql.NullInt64
	var expires int64
	var err error
	out.User, out.Device, err = scanUserDevice(t.QueryRow(ctx, query, hash[:]), &ended, &expires, &replaced, &out.Sealed)
	return account.TokenState{ReplacedAt: fromNull(replaced), FamilyEnded: ended.Valid, FamilyExpires: fromMicros(expires)}, err
}

// replaceRefreshToken also forgets tokens so old that their reuse no longer tells anything.
func (t *Tx) replaceRefreshToken(ctx context.Context, r account.Rotation, f account.Family) error {
	const replace = `UPDATE refresh_tokens SET replaced_at = $2, successor = $3 WHERE token_hash = $1`
	if _, err := t.Exec(ctx, replace, r.Presented[:], micros(r.Now), r.Sealed); err != nil {
		return fmt.Errorf("replace refresh token: %w", err)
	}
	if err := t.insertRefreshToken(ctx, r.Next, f, r.Now); err != nil {
		return err
	}
	const extend = `UPDATE devices SET last_seen_at = $2, expires_at = $3 WHERE family = $1`
	if _, err := t.Exec(ctx, extend, string(f), micros(r.Now), micros(r.Now.Add(account.FamilyIdle))); err != nil {
		return fmt.Errorf("extend family: %w", err)
	}
	const forget = `DELETE FROM refresh_tokens WHERE family = $1 AND replaced_at < $2`
	if _, err := t.Exec(ctx, forget, string(f), micros(r.Now.Add(-account.FamilyIdle))); err != nil {
		return fmt.Errorf("forget old refresh tokens: %w", err)
	}
	return nil
}
