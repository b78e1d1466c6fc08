package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/notice"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Frames of S3 about friends.
const (
	frameFriendRequest  = "friend.request"
	frameFriendAccepted = "friend.accepted"
)

// Contacts keeps who knows whom: contact.Store.
type Contacts struct {
	store  *Store
	writer *Writer
}

var _ contact.Store = (*Contacts)(nil)

// NewContacts reads from s and writes through w.
func NewContacts(s *Store, w *Writer) *Contacts { return &Contacts{store: s, writer: w} }

// lockPair guards what stands between two people.
func lockPair(a, b id.User) Lock { return LockAccount("pair:" + string(min(a, b)) + string(max(a, b))) }

// notBlocked is true of a user u who has not blocked the user $1.
const notBlocked = `NOT EXISTS (SELECT 1 FROM contacts b WHERE b.user_id = u.id AND b.other_id = $1 AND b.state = 'blocked')`

// Find implements contact.Store.
func (c *Contacts) Find(ctx context.Context, by id.User, name string) (p contact.Person, err error) {
	const query = `SELECT u.id, u.name, u.display_name FROM users u WHERE u.name = $2 AND ` + notBlocked
	err = c.store.readDB.QueryRowContext(ctx, query, string(by), name).Scan(&p.ID, &p.Name, &p.DisplayName)
	if errors.Is(err, sql.ErrNoRows) {
		return p, contact.NotThere()
	}
	return p, err
}

// selectContact has beside the row when a device of a friend was seen last: at its last login, or when it renewed that.
const selectContact = `SELECT u.id, u.name, u.display_name, c.state, c.request_id, c.message, c.since,
    CASE WHEN c.state = 'friend' THEN (SELECT MAX(d.last_seen_at) FROM devices d WHERE d.user_id = c.other_id) END
FROM contacts c JOIN users u ON u.id = c.other_id WHERE c.user_id = $1`

func scanContact(row Scanner) (c contact.Contact, err error) {
	var since int64
	var seen sql.NullInt64
	err = row.Scan(&c.ID, &c.Name, &c.DisplayName, &c.State, &c.Request, &c.Message, &since, &seen)
	if c.Since = fromMicros(since); seen.Valid {
		c.LastSeen = fromMicros(seen.Int64)
	}
	return c, err
}

// Contacts implements contact.Store.
func (c *Contacts) Contacts(ctx context.Context, of id.User) ([]contact.Contact, error) {
	rows, err := c.store.readDB.QueryContext(ctx, selectContact+` ORDER BY u.name`, string(of))
	found, err := collect(rows, err, scanContact)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	return found, nil
}

// Ask implements contact.Store.
func (c *Contacts) Ask(ctx context.Context, a contact.Asking) (stands contact.Contact, err error) {
	err = c.writer.Do(ctx, []Lock{lockPair(a.From, a.To), lockContacts(a.From), lockContacts(a.To)}, func(ctx context.Context, tx *Tx) error {
		mine, theirs, err := tx.between(ctx, a.From, a.To)
		if err != nil {
			return err
		}
		switch {
		case theirs.State == contact.Blocked:
			return contact.NotThere()
		case mine.State == contact.Blocked:
			return fault.New(fault.Conflict, "You have blocked this person. Unblock them first.")
		case mine.State == contact.Friend || mine.State == contact.Sent:
		case theirs.State == contact.Sent: // both have asked, though one may have been declined before
			err = tx.befriend(ctx, a.From, a.To, theirs.Request)
		default:
			err = tx.ask(ctx, a)
		}
		if err != nil {
			return err
		}
		stands, err = scanContact(tx.QueryRow(ctx, selectContact+` AND c.other_id = $2`, string(a.From), string(a.To)))
		return err
	})
	return stands, err
}

func lockContacts(of id.User) Lock { return LockAccount("contacts:" + string(of)) }

func (t *Tx) ask(ctx context.Context, a contact.Asking) error {
	all, open, err := t.countContacts(ctx, a.From)
	if err != nil {
		return err
	}
	if err := a.Limits.Mine(all, open); err != nil {
		return err
	}
	if all, _, err = t.countContacts(ctx, a.To); err != nil {
		return err
	}
	if err := a.Limits.Theirs(all); err != nil {
		return err
	}
	if err := t.putContact(ctx, a.From, a.To, contact.Sent, a.ID, a.Message); err != nil {
		return err
	}
	if err := t.putContact(ctx, a.To, a.From, contact.Received, a.ID, a.Message); err != nil {
		return err
	}
	t.emitToUser(a.From, frameFriendRequest, a.Frame)
	t.emitToUser(a.To, frameFriendRequest, a.Frame)
	return t.notify(ctx, a.Notice)
}

// countContacts counts who is on a list, and how many requests of its owner wait.
func (t *Tx) countContacts(ctx context.Context, of id.User) (all, open int, err error) {
	const count = `SELECT COUNT(*), COALESCE(SUM(CASE WHEN state = 'request_sent' THEN 1 ELSE 0 END), 0) FROM contacts WHERE user_id = $1`
	if err := t.QueryRow(ctx, count, string(of)).Scan(&all, &open); err != nil {
		return 0, 0, fmt.Errorf("count contacts: %w", err)
	}
	return all, open, nil
}

func (t *Tx) emitToUser(u id.User, frame string, payload []byte) {
	t.Emit(delivery.Row{Audience: delivery.ToUser(u), Kind: delivery.KindFrame, FrameType: frame, Payload: payload})
}

// between reads the rows of both sides; the zero Contact where there is none.
func (t *Tx) between(ctx context.Context, a, b id.User) (mine, theirs contact.Contact, err error) {
	const query = `SELECT user_id, state, request_id FROM contacts WHERE (user_id = $1 AND other_id = $2) OR (user_id = $2 AND other_id = $1)`
	rows, err := t.Query(ctx, query, string(a), string(b))
	_, err = collect(rows, err, func(row Scanner) (of id.User, err error) {
		var c contact.Contact
		if err = row.Scan(&of, &c.State, &c.Request); of == a {
			mine = c
		} else {
			theirs = c
		}
		return of, err
	})
	if err != nil {
		err = fmt.Errorf("read contact: %w", err)
	}
	return mine, theirs, err
}

func (t *Tx) putContact(ctx context.Context, of, other id.User, s contact.State, request id.Request, message string) error {
	const put = `
INSERT INTO contacts (user_id, other_id, state, request_id, message, since) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id, other_id) DO UPDATE SET state = excluded.state, request_id = excluded.request_id, message = excluded.message,
    since = excluded.since`
	if _, err := t.Exec(ctx, put, string(of), string(other), string(s), string(request), message, micros(t.now)); err != nil {
		return fmt.Errorf("put contact: %w", err)
	}
	return nil
}

// dropContact takes other off a list, but for a block.
func (t *Tx) dropContact(ctx context.Context, of, other id.User) error {
	const drop = `DELETE FROM contacts WHERE user_id = $1 AND other_id = $2 AND state <> 'blocked'`
	if _, err := t.Exec(ctx, drop, string(of), string(other)); err != nil {
		return fmt.Errorf("drop contact: %w", err)
	}
	return nil
}

// befriend makes friends, tells both on all their devices, and settles what either was told of the request.
func (t *Tx) befriend(ctx context.Context, a, b id.User, request id.Request) error {
	for _, pair := range [][2]id.User{{a, b}, {b, a}} {
		if err := t.putContact(ctx, pair[0], pair[1], contact.Friend, request, ""); err != nil {
			return err
		}
		t.emitToUser(pair[0], frameFriendAccepted, contact.AcceptedFrame(request, pair[1]))
		if err := t.settle(ctx, pair[0], notice.FriendRequest, string(request)); err != nil {
			return err
		}
	}
	return nil
}

// asker returns who has sent a request to by, and how that stands; NotFound.
func (c *Contacts) asker(ctx context.Context, by id.User, request id.Request) (other id.User, err error) {
	const query = `SELECT other_id FROM contacts WHERE user_id = $1 AND request_id = $2 AND request_id <> ''`
	err = c.store.readDB.QueryRowContext(ctx, query, string(by), string(request)).Scan(&other)
	if errors.Is(err, sql.ErrNoRows) {
		return other, noRequest()
	}
	return other, err
}

func noRequest() error {
	return fault.New(fault.NotFound, "There is no such request, or it is answered.")
}

// Accept implements contact.Store.
func (c *Contacts) Accept(ctx context.Context, by id.User, request id.Request) (stands contact.Contact, err error) {
	other, err := c.asker(ctx, by, request)
	if err != nil {
		return stands, err
	}
	err = c.writer.Do(ctx, []Lock{lockPair(by, other)}, func(ctx context.Context, tx *Tx) error {
		mine, theirs, err := tx.between(ctx, by, other)
		switch {
		case err != nil:
			return err
		case mine.Request != request || theirs.Request != request:
			return noRequest()
		case mine.State == contact.Received:
			err = tx.befriend(ctx, by, other, request)
		case mine.State != contact.Friend:
			return noRequest()
		}
		if err != nil {
			return err
		}
		stands, err = scanContact(tx.QueryRow(ctx, selectContact+` AND c.other_id = $2`, string(by), string(other)))
		return err
	})
	return stands, err
}

// Decline implements contact.Store.
func (c *Contacts) Decline(ctx context.Context, by id.User, request id.Request) error {
	other, err := c.asker(ctx, by, request)
	if err != nil {
		return err
	}
	return c.writer.Do(ctx, []Lock{lockPair(by, other)}, func(ctx context.Context, tx *Tx) error {
		mine, _, err := tx.between(ctx, by, other)
		if err != nil {
			return err
		}
		if mine.Request != request || mine.State != contact.Received {
			return noRequest()
		}
		if err := tx.dropContact(ctx, by, other); err != nil {
			return err
		}
		return tx.settle(ctx, by, notice.FriendRequest, string(request))
	})
}

// Remove implements contact.Store.
func (c *Contacts) Remove(ctx context.Context, by, other id.User) (ended bool, err error) {
	err = c.writer.Do(ctx, []Lock{lockPair(by, other)}, func(ctx context.Context, tx *Tx) (err error) {
		ended, err = tx.part(ctx, by, other)
		return err
	})
	return ended, err
}

// part takes two people off each other's lists without a word, and says whether they were friends.
func (t *Tx) part(ctx context.Context, by, other id.User) (ended bool, err error) {
	mine, theirs, err := t.between(ctx, by, other)
	if err != nil {
		return false, err
	}
	for _, side := range []struct {
		of, other id.User
		stands    contact.Contact
	}{{by, other, mine}, {other, by, theirs}} {
		if side.stands.State == contact.Blocked || side.stands.State == "" {
			continue
		}
		if err := t.dropContact(ctx, side.of, side.other); err != nil {
			return false, err
		}
		if err := t.settle(ctx, side.of, notice.FriendRequest, string(side.stands.Request)); err != nil {
			return false, err
		}
	}
	return mine.State == contact.Friend, nil
}
