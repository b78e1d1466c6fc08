package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Accounts keeps people, devices, tokens and attempts: account.UserStore, account.DeviceStore and account.AttemptStore.
type Accounts struct {
	store  *Store
	writer *Writer
}

// NewAccounts reads from s and writes through w.
func NewAccounts(s *Store, w *Writer) *Accounts { return &Accounts{store: s, writer: w} }

// lockUsers guards the uniqueness of names and of the first user.
func lockUsers() Lock { return LockAccount("users") }

// HasUsers implements account.UserStore.
func (a *Accounts) HasUsers(ctx context.Context) (bool, error) {
	return hasRow(a.store.readDB.QueryRowContext(ctx, `SELECT 1 FROM users LIMIT 1`))
}

// hasRow says whether a statement `SELECT 1 …` found anything.
func hasRow(row Scanner) (bool, error) {
	var one int
	err := row.Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// AddFirstUser implements account.UserStore.
func (a *Accounts) AddFirstUser(ctx context.Context, j account.Joining) error {
	return a.writer.Do(ctx, []Lock{lockUsers()}, func(ctx context.Context, tx *Tx) error {
		some, err := hasRow(tx.QueryRow(ctx, `SELECT 1 FROM users LIMIT 1`))
		if err != nil {
			return fmt.Errorf("look for users: %w", err)
		}
		if some {
			return fault.New(fault.BootstrapDone, "This hub has its first user. Ask them for an invitation.")
		}
		return tx.insertJoining(ctx, j, "first")
	})
}

// AddInvitedUser implements account.UserStore.
func (a *Accounts) AddInvitedUser(ctx context.Context, invitation account.TokenHash, j account.Joining) error {
	return a.writer.Do(ctx, []Lock{lockUsers()}, func(ctx context.Context, tx *Tx) error {
		const use = `
UPDATE invitations SET used_at = $2, used_by = $3 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 RETURNING id`
		var used string
		err := tx.QueryRow(ctx, use, invitation[:], micros(j.User.CreatedAt), string(j.User.ID)).Scan(&used)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("use invitation: %w", err)
		}
		if used == "" {
			return fault.New(fault.InvitationInvalid, "The invitation was used, has expired or never existed. Ask for a new one.")
		}
		taken, err := hasRow(tx.QueryRow(ctx, `SELECT 1 FROM users WHERE name = $1`, j.User.Name))
		if err != nil {
			return fmt.Errorf("look for name: %w", err)
		}
		if taken {
			return fault.New(fault.Conflict, "The user name is taken. Choose another one; the invitation is still good.")
		}
		return tx.insertJoining(ctx, j, used)
	})
}

// insertJoining stores a new user and the device they come on. how says what let them in.
func (t *Tx) insertJoining(ctx context.Context, j account.Joining, how string) error {
	const insert = `INSERT INTO users (id, name, display_name, role, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)`
	u := j.User
	_, err := t.Exec(ctx, insert, string(u.ID), u.Name, u.DisplayName, string(u.Role), j.PasswordHash, micros(u.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert user: %w", err)
	}
	t.Audit(audit.Entry{Act: audit.UserJoined, User: u.ID, Target: string(u.ID), Detail: how})
	return t.insertLogin(ctx, j.Login, audit.LoggedIn)
}

// AddInvitation implements account.UserStore.
func (a *Accounts) AddInvitation(ctx context.Context, inv account.Invitation, c account.Claim) error {
	hash := inv.Token.Hash()
	return a.writer.Do(ctx, []Lock{lockAttempt(c.Attempt)}, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, c); err != nil {
			return err
		}
		const insert = `
INSERT INTO invitations (id, token_hash, created_by, created_at, expires_at, used_by) VALUES ($1, $2, $3, $4, $5, '')`
		_, err := tx.Exec(ctx, insert, string(inv.ID), hash[:], string(inv.CreatedBy), micros(inv.CreatedAt), micros(inv.ExpiresAt))
		if err != nil {
			return fmt.Errorf("insert invitation: %w", err)
		}
		tx.Audit(audit.Entry{Act: audit.UserInvited, User: inv.CreatedBy, Target: string(inv.ID)})
		return nil
	})
}

// Credential implements account.DeviceStore.
func (a *Accounts) Credential(ctx context.Context, name string) (account.User, string, error) {
	var hash string
	row := a.store.readDB.QueryRowContext(ctx, `SELECT `+userColumns+`, u.password_hash FROM users u WHERE u.name = $1`, name)
	u, err := scanUser(row, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return account.User{}, "", nil
	}
	return u, hash, err
}

// userColumns are what scanUser reads; the table is `users u`.
const userColumns = `u.id, u.name, u.display_name, u.role, u.created_at`

// scanUser reads a user and whatever columns stand behind.
func scanUser(row Scanner, more ...any) (u account.User, err error) {
	var created int64
	err = row.Scan(append([]any{&u.ID, &u.Name, &u.DisplayName, &u.Role, &created}, more...)...)
	u.CreatedAt = fromMicros(created)
	return u, err
}

// UserExists says whether somebody has that id.
func (t *Tx) userExists(ctx context.Context, user id.User) (bool, error) {
	return hasRow(t.QueryRow(ctx, `SELECT 1 FROM users WHERE id = $1`, string(user)))
}

// fromNull reads a nullable time; NULL is the zero time.
func fromNull(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return fromMicros(us.Int64)
}
