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

// AddDevice implements account.DeviceStore.
func (a *Accounts) AddDevice(ctx context.Context, l account.NewLogin) error {
	return a.writer.Do(ctx, []Lock{lockDevices(l)}, func(ctx context.Context, tx *Tx) error {
		return tx.insertLogin(ctx, l, audit.LoggedIn)
	})
}

// AddDeviceOnce implements account.DeviceStore.
func (a *Accounts) AddDeviceOnce(ctx context.Context, l account.NewLogin, c account.Claim) error {
	return a.writer.Do(ctx, []Lock{lockAttempt(c.Attempt), lockDevices(l)}, func(ctx context.Context, tx *Tx) error {
		if err := tx.claim(ctx, c); err != nil {
			return err
		}
		return tx.insertLogin(ctx, l, audit.DeviceAdded)
	})
}

// lockDevices guards the number of a user's devices.
func lockDevices(l account.NewLogin) Lock { return LockAccount("devices:" + string(l.Device.User)) }

func (t *Tx) insertLogin(ctx context.Context, l account.NewLogin, act audit.Act) error {
	d := l.Device
	const count = `SELECT COUNT(*) FROM devices WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2`
	var live int
	if err := t.QueryRow(ctx, count, string(d.User), micros(d.CreatedAt)).Scan(&live); err != nil {
		return fmt.Errorf("count devices: %w", err)
	}
	if live >= account.MaxDevices {
		return fault.New(fault.TooLarge, "You have %d devices. Revoke some before you log in on another.", live)
	}
	const insert = `
INSERT INTO devices (id, user_id, type, name, family, created_at, last_seen_at, expires_at, end_reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '')`
	_, err := t.Exec(ctx, insert, string(d.ID), string(d.User), string(d.Type), d.Name, string(d.Family),
		micros(d.CreatedAt), micros(d.LastSeenAt), micros(l.Expires))
	if err != nil {
		return fmt.Errorf("insert device: %w", err)
	}
	t.Audit(audit.Entry{Act: act, User: d.User, Target: string(d.ID)})
	return t.insertRefreshToken(ctx, l.Refresh, d.Family, d.CreatedAt)
}

// deviceColumns are what scanDevice reads behind a user; the table is `devices d`.
const deviceColumns = `d.id, d.user_id, d.type, d.name, d.family, d.created_at, d.last_seen_at`

// scanDevice reads a device and whatever columns stand behind.
func scanDevice(row Scanner, more ...any) (d account.Device, err error) {
	var created, seen int64
	err = row.Scan(append([]any{&d.ID, &d.User, &d.Type, &d.Name, &d.Family, &created, &seen}, more...)...)
	d.CreatedAt, d.LastSeenAt = fromMicros(created), fromMicros(seen)
	return d, err
}

// scanUserDevice reads deviceColumns, then userColumns, then more.
func scanUserDevice(row Scanner, more ...any) (u account.User, d account.Device, err error) {
	var created int64
	d, err = scanDevice(row, append([]any{&u.ID, &u.Name, &u.DisplayName, &u.Role, &created}, more...)...)
	u.CreatedAt = fromMicros(created)
	return u, d, err
}

// LiveDevice implements account.DeviceStore.
func (a *Accounts) LiveDevice(ctx context.Context, f account.Family, now time.Time) (account.User, account.Device, error) {
	const query = `SELECT ` + deviceColumns + `, ` + userColumns + ` FROM devices d JOIN users u ON u.id = d.user_id
WHERE d.family = $1 AND d.ended_at IS NULL AND d.expires_at > $2`
	u, d, err := scanUserDevice(a.store.queryRowPrepared(ctx, query, string(f), micros(now)))
	if errors.Is(err, sql.ErrNoRows) {
		err = deviceNotFound()
	}
	return u, d, err
}

// LiveDevices implements account.DeviceStore.
func (a *Accounts) LiveDevices(ctx context.Context, user id.User, now time.Time) ([]account.Device, error) {
	const query = `SELECT ` + deviceColumns + ` FROM devices d
WHERE d.user_id = $1 AND d.ended_at IS NULL AND d.expires_at > $2 ORDER BY d.created_at DESC, d.id DESC`
	rows, err := a.store.readDB.QueryContext(ctx, query, string(user), micros(now))
	return collect(rows, err, func(row Scanner) (account.Device, error) { return scanDevice(row) })
}

// EndDevice implements account.DeviceStore.
func (a *Accounts) EndDevice(
	ctx context.Context, user id.User, device id.Device, why account.EndReason, now time.Time,
) (family account.Family, err error) {
	err = a.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		row := tx.QueryRow(ctx, `SELECT family FROM devices WHERE id = $1 AND user_id = $2`, string(device), string(user))
		if err := row.Scan(&family); errors.Is(err, sql.ErrNoRows) {
			return deviceNotFound()
		} else if err != nil {
			return fmt.Errorf("read device: %w", err)
		}
		return tx.endFamily(ctx, family, why, now)
	})
	return family, err
}

// EndDevices implements account.DeviceStore. A device that logs in meanwhile waits for the lock, and stays.
func (a *Accounts) EndDevices(
	ctx context.Context, user id.User, why account.EndReason, now time.Time,
) (ended []account.Family, err error) {
	lock := LockAccount("devices:" + string(user))
	err = a.writer.Do(ctx, []Lock{lock}, func(ctx context.Context, tx *Tx) error {
		rows, err := tx.Query(ctx, `SELECT family FROM devices WHERE user_id = $1 AND ended_at IS NULL ORDER BY created_at`, string(user))
		ended, err = collect(rows, err, func(row Scanner) (f account.Family, err error) {
			err = row.Scan(&f)
			return f, err
		})
		if err != nil {
			return fmt.Errorf("list devices: %w", err)
		}
		for _, family := range ended {
			if err := tx.endFamily(ctx, family, why, now); err != nil {
				return err
			}
		}
		return nil
	})
	return ended, err
}

// endFamily ends a family once; the first reason stays.
func (t *Tx) endFamily(ctx context.Context, f account.Family, why account.EndReason, now time.Time) error {
	const end = `UPDATE devices SET ended_at = $2, end_reason = $3 WHERE family = $1 AND ended_at IS NULL RETURNING id, user_id`
	ended := audit.Entry{Act: audit.DeviceEnded, Detail: string(why)}
	switch err := t.QueryRow(ctx, end, string(f), micros(now), string(why)).Scan(&ended.Target, &ended.User); {
	case err == nil:
		t.Audit(ended)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("end family: %w", err)
	}
	const forget = `DELETE FROM push_registrations WHERE device_id IN (SELECT id FROM devices WHERE family = $1)`
	if _, err := t.Exec(ctx, forget, string(f)); err != nil {
		return fmt.Errorf("forget where to push: %w", err)
	}
	if _, err := t.Exec(ctx, `DELETE FROM refresh_tokens WHERE family = $1`, string(f)); err != nil {
		return fmt.Errorf("forget refresh tokens: %w", err)
	}
	return nil
}

func deviceNotFound() error { return fault.New(fault.NotFound, "There is no such device.") }

// collect reads all rows with scan and closes them. It takes the results of Query as they are.
func collect[T any](rows *sql.Rows, err error, scan func(Scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what matters
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read row: %w", err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
