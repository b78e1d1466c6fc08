package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Pushes keeps which devices are pushed to and what became of each push: push.RegistrationStore and push.DeliveryStore.
type Pushes struct {
	store  *Store
	writer *Writer
}

var (
	_ push.RegistrationStore = (*Pushes)(nil)
	_ push.DeliveryStore     = (*Pushes)(nil)
)

// NewPushes reads from s and writes through w.
func NewPushes(s *Store, w *Writer) *Pushes { return &Pushes{store: s, writer: w} }

// Register implements push.RegistrationStore.
func (p *Pushes) Register(ctx context.Context, r push.Registration) error {
	return p.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		// A device whose login ended while it asked stays out; one that ends it at this moment is found out when something is to be sent.
		const live = `SELECT 1 FROM devices WHERE id = $1 AND user_id = $2 AND ended_at IS NULL`
		if in, err := hasRow(tx.QueryRow(ctx, live, string(r.Device), string(r.User))); err != nil || !in {
			return cmp.Or(err, deviceNotFound())
		}
		const put = `
INSERT INTO push_registrations (device_id, user_id, channel, host, show_text, sealed, created_at, rest_until) VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
ON CONFLICT (device_id) DO UPDATE SET channel = excluded.channel, host = excluded.host, show_text = excluded.show_text, sealed = excluded.sealed,
    created_at = excluded.created_at, rest_until = 0`
		_, err := tx.Exec(ctx, put, string(r.Device), string(r.User), string(r.Channel), r.Host, r.ShowText, r.Sealed, micros(r.CreatedAt))
		if err != nil {
			return fmt.Errorf("register for pushes: %w", err)
		}
		tx.Audit(audit.Entry{Act: audit.PushAdded, User: r.User, Target: string(r.Device), Detail: string(r.Channel) + " " + r.Host})
		return nil
	})
}

// Unregister implements push.RegistrationStore.
func (p *Pushes) Unregister(ctx context.Context, user id.User, device id.Device) error {
	return p.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM push_registrations WHERE device_id = $1 AND user_id = $2`, string(device), string(user))
		if err != nil {
			return fmt.Errorf("end pushes: %w", err)
		}
		if n > 0 {
			tx.Audit(audit.Entry{Act: audit.PushRemoved, User: user, Target: string(device)})
		}
		return nil
	})
}

const registrationColumns = `r.device_id, r.user_id, r.channel, r.host, r.show_text, r.sealed, r.created_at`

func scanRegistration(row Scanner) (r push.Registration, err error) {
	var created int64
	err = row.Scan(&r.Device, &r.User, &r.Channel, &r.Host, &r.ShowText, &r.Sealed, &created)
	r.CreatedAt = fromMicros(created)
	return r, err
}

// Registrations implements push.RegistrationStore.
func (p *Pushes) Registrations(ctx context.Context, user id.User) ([]push.Registration, error) {
	const query = `SELECT ` + registrationColumns + ` FROM push_registrations r JOIN devices d ON d.id = r.device_id
WHERE r.user_id = $1 AND d.ended_at IS NULL ORDER BY r.created_at, r.device_id`
	rows, err := p.store.readDB.QueryContext(ctx, query, string(user))
	found, err := collect(rows, err, scanRegistration)
	if err != nil {
		return nil, fmt.Errorf("list registrations: %w", err)
	}
	return found, nil
}

const deliveryColumns = `d.notification_id, d.device_id, d.user_id, d.channel, d.type, d.session_id, d.message_id, d.run_id,
d.state, d.code, d.status, d.tries, d.due, d.active_device, d.active_session, d.created_at, d.sent_at, d.changed_at`

func scanDelivery(row Scanner) (d push.Delivery, err error) {
	var due, created, sent, changed int64
	err = row.Scan(&d.Notification, &d.Device, &d.User, &d.Channel, &d.Type, &d.Session, &d.Message, &d.Run,
		&d.State, &d.Code, &d.Status, &d.Tries, &due, &d.ActiveDevice, &d.ActiveSession, &created, &sent, &changed)
	d.Due, d.CreatedAt, d.SentAt, d.ChangedAt = momentOrZero(due), fromMicros(created), momentOrZero(sent), fromMicros(changed)
	return d, err
}

// momentOrZero reads a time that may not have come.
func momentOrZero(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return fromMicros(at)
}

// Deliveries implements push.RegistrationStore.
func (p *Pushes) Deliveries(ctx context.Context, user id.User, notification string) ([]push.Delivery, error) {
	const query = `SELECT ` + deliveryColumns + ` FROM push_deliveries d WHERE d.notification_id = $1 AND d.user_id = $2 ORDER BY d.device_id`
	rows, err := p.store.readDB.QueryContext(ctx, query, notification, string(user))
	found, err := collect(rows, err, scanDelivery)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return found, nil
}

// Due implements push.DeliveryStore.
func (p *Pushes) Due(ctx context.Context, now time.Time, limit int) ([]push.Delivery, error) {
	const query = `SELECT ` + deliveryColumns + ` FROM push_deliveries d WHERE d.due > 0 AND d.due <= $1
AND NOT EXISTS (SELECT 1 FROM push_deliveries e WHERE e.device_id = d.device_id AND e.due > 0
    AND (e.due < d.due OR (e.due = d.due AND e.notification_id < d.notification_id)))
AND NOT EXISTS (SELECT 1 FROM push_registrations r WHERE r.device_id = d.device_id AND r.rest_until > $1)
ORDER BY d.due, d.notification_id, d.device_id LIMIT $2`
	rows, err := p.store.readDB.QueryContext(ctx, query, micros(now), limit)
	found, err := collect(rows, err, scanDelivery)
	if err != nil {
		return nil, fmt.Errorf("look for pushes: %w", err)
	}
	return found, nil
}

// Claim implements push.DeliveryStore.
func (p *Pushes) Claim(ctx context.Context, d push.Delivery, until time.Time) (o push.Order, err error) {
	err = p.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const claim = `
UPDATE push_deliveries SET due = $5, claimed = TRUE, tries = tries + 1 WHERE notification_id = $1 AND device_id = $2 AND state = $3 AND due = $4`
		err := tx.conditional(ctx, claim, d.Notification, string(d.Device), string(d.State), micros(d.Due), micros(until))
		if err != nil {
			return err
		}
		o = push.Order{Delivery: d}
		o.Due, o.Tries = until, d.Tries+1
		return tx.judgePush(ctx, &o)
	})
	return o, err
}

// judgePush reads what decides whether a push is to be sent.
func (t *Tx) judgePush(ctx context.Context, o *push.Order) error {
	r, err := scanRegistration(t.QueryRow(ctx, `SELECT `+registrationColumns+` FROM push_registrations r WHERE r.device_id = $1`, string(o.Device)))
	switch {
	case err == nil:
		o.Registration = &r
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("read registration: %w", err)
	}
	const live = `SELECT 1 FROM devices WHERE id = $1 AND ended_at IS NULL AND expires_at > $2`
	in, err := hasRow(t.QueryRow(ctx, live, string(o.Device), micros(t.now)))
	if err != nil {
		return fmt.Errorf("read device: %w", err)
	}
	o.LoginEnded, o.Member = !in, true
	if o.Session == "" {
		return nil
	}
	const member = `SELECT muted FROM session_members WHERE session_id = $1 AND member_id = $2 AND left_at IS NULL`
	err = t.QueryRow(ctx, member, string(o.Session), string(o.User)).Scan(&o.Muted)
	if errors.Is(err, sql.ErrNoRows) {
		o.Member, err = false, nil
	}
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	return nil
}

// Record implements push.DeliveryStore. The state moves on only from the one that was claimed: what was read in the meantime is to be cleared, and
// stays so.
func (p *Pushes) Record(ctx context.Context, o push.Order, out push.Outcome) error {
	return p.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const record = `
UPDATE push_deliveries SET claimed = FALSE, status = $6, changed_at = $10,
    state = CASE WHEN state = $4 THEN $5 ELSE state END,
    code = CASE WHEN state = $4 THEN $7 ELSE code END,
    due = CASE WHEN state = $4 THEN CAST($8 AS BIGINT) ELSE CAST($10 AS BIGINT) END,
    tries = CASE WHEN state = $4 THEN tries ELSE 0 END,
    sent_at = CASE WHEN CAST($9 AS BIGINT) > 0 THEN CAST($9 AS BIGINT) ELSE sent_at END,
    active_device = $11, active_session = $12
WHERE notification_id = $1 AND device_id = $2 AND due = $3 AND claimed`
		var sent, again int64
		if out.Took {
			sent = micros(tx.now)
		}
		if !out.Again.IsZero() {
			again = micros(out.Again)
		}
		n, err := tx.Exec(ctx, record, o.Notification, string(o.Device), micros(o.Due), string(o.State), string(out.State), out.Status,
			string(out.Code), again, sent, micros(tx.now), string(out.ActiveDevice), string(out.ActiveSession))
		if err != nil || n == 0 {
			return err
		}
		return tx.afterPush(ctx, o, out, again)
	})
}

// afterPush lets a device rest whose push has failed, and forgets an address that is of no use. One that was put in its place meanwhile stays.
func (t *Tx) afterPush(ctx context.Context, o push.Order, out push.Outcome, again int64) error {
	if o.Registration == nil {
		return nil
	}
	made := micros(o.Registration.CreatedAt)
	if out.Gone {
		const remove = `DELETE FROM push_registrations WHERE device_id = $1 AND created_at = $2`
		if _, err := t.Exec(ctx, remove, string(o.Device), made); err != nil {
			return fmt.Errorf("remove registration: %w", err)
		}
		t.Audit(audit.Entry{Act: audit.PushRemoved, User: o.User, Target: string(o.Device), Detail: string(out.Code)})
		return nil
	}
	_, err := t.Exec(ctx, `UPDATE push_registrations SET rest_until = $3 WHERE device_id = $1 AND created_at = $2 AND rest_until <> $3`,
		string(o.Device), made, again)
	return err
}

// Forget implements push.DeliveryStore.
func (p *Pushes) Forget(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = p.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const old = `
DELETE FROM push_deliveries WHERE created_at < $1 AND (notification_id, device_id) IN (
    SELECT notification_id, device_id FROM push_deliveries WHERE created_at < $1 ORDER BY created_at LIMIT $2)`
		count, err := tx.Exec(ctx, old, micros(before), limit)
		n = int(count)
		return err
	})
	return n, err
}

// occasion is something to tell a person.
type occasion struct {
	notification string
	user         id.User
	kind         string // of the notification
	session      id.Session
	message      id.Message
	run          id.Run
}

// planPush has each of the person's devices pushed to, in the transaction of what there is to tell.
func (t *Tx) planPush(ctx context.Context, o occasion) error {
	const plan = `
INSERT INTO push_deliveries (notification_id, device_id, user_id, channel, type, session_id, message_id, run_id, state, code, status, tries, claimed, due,
    active_device, active_session, created_at, sent_at, changed_at)
SELECT $1, r.device_id, r.user_id, r.channel, $3, $4, $5, $6, 'pending', '', 0, 0, FALSE, CAST($7 AS BIGINT), '', '', CAST($7 AS BIGINT), 0,
    CAST($7 AS BIGINT) FROM push_registrations r WHERE r.user_id = $2 ON CONFLICT (notification_id, device_id) DO NOTHING`
	_, err := t.Exec(ctx, plan, o.notification, string(o.user), o.kind, string(o.session), string(o.message), string(o.run), micros(t.now))
	if err != nil {
		return fmt.Errorf("plan pushes: %w", err)
	}
	return nil
}

// withdrawPush ends what is left to be told: what was not sent is not sent any more; what was sent, or may have been, is taken back. user is "" for
// everybody who was told.
func (t *Tx) withdrawPush(ctx context.Context, notification string, user id.User) error {
	const withdraw = `
UPDATE push_deliveries SET changed_at = $3,
    state = CASE WHEN state = 'pending' AND NOT claimed THEN 'withdrawn' ELSE 'clearing' END,
    code = 'read',
    due = CASE WHEN claimed THEN due WHEN state = 'pending' THEN 0 ELSE CAST($3 AS BIGINT) END,
    tries = CASE WHEN claimed THEN tries ELSE 0 END
WHERE notification_id = $1 AND ($2 = '' OR user_id = $2) AND state IN ('pending', 'sent')`
	if _, err := t.Exec(ctx, withdraw, notification, string(user), micros(t.now)); err != nil {
		return fmt.Errorf("withdraw pushes: %w", err)
	}
	return nil
}
