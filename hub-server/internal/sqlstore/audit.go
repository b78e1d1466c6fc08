package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
)

// Audit puts an entry into the audit log. Like a row of the outbox it gets its number at the group's end.
func (t *Tx) Audit(e audit.Entry) { t.audits = append(t.audits, e) }

const insertAudit = `INSERT INTO audit_entries (seq, at, act, user_id, target, detail) VALUES ($1, $2, $3, $4, $5, $6)`

// placeAudits gives the group's entries the next numbers. Like placeOutbox it takes the store counter, the last lock of a transaction.
func (t *Tx) placeAudits(ctx context.Context) error {
	if len(t.audits) == 0 {
		return nil
	}
	const take = `UPDATE store_counter SET audit_seq = audit_seq + $1 WHERE id = 1 RETURNING audit_seq, format`
	head, err := t.take(ctx, take, len(t.audits))
	if err != nil {
		return fmt.Errorf("take numbers: %w", err)
	}
	seq := head - int64(len(t.audits))
	for _, e := range t.audits {
		seq++
		if _, err := t.Exec(ctx, insertAudit, seq, micros(t.now), string(e.Act), string(e.User), e.Target, e.Detail); err != nil {
			return fmt.Errorf("insert: %w", err)
		}
	}
	return nil
}

// Audit keeps the audit log: audit.Store. Entries are added by the transactions of their acts.
type Audit struct {
	store  *Store
	writer *Writer // nil where nothing is sealed
}

var _ audit.Store = (*Audit)(nil)

// NewAudit reads from s and seals through w.
func NewAudit(s *Store, w *Writer) *Audit { return &Audit{store: s, writer: w} }

// Entries implements audit.Store.
func (a *Audit) Entries(ctx context.Context, after audit.Seq, limit int) ([]audit.Entry, error) {
	const query = `SELECT seq, at, act, user_id, target, detail FROM audit_entries WHERE seq > $1 ORDER BY seq LIMIT $2`
	rows, err := a.store.readDB.QueryContext(ctx, query, int64(after), limit)
	return collect(rows, err, func(row Scanner) (e audit.Entry, err error) {
		var at int64
		err = row.Scan(&e.Seq, &at, &e.Act, &e.User, &e.Target, &e.Detail)
		e.At = fromMicros(at)
		return e, err
	})
}

const selectSeals = `SELECT first_seq, last_seq, chain, signature FROM audit_seals`

func scanSeal(row Scanner) (s audit.Seal, err error) {
	var chain []byte
	err = row.Scan(&s.First, &s.Last, &chain, &s.Signature)
	copy(s.Chain[:], chain)
	return s, err
}

// Seals implements audit.Store.
func (a *Audit) Seals(ctx context.Context, after audit.Seq, limit int) ([]audit.Seal, error) {
	rows, err := a.store.readDB.QueryContext(ctx, selectSeals+` WHERE last_seq > $1 ORDER BY first_seq LIMIT $2`, int64(after), limit)
	return collect(rows, err, scanSeal)
}

// LastSeal implements audit.Store.
func (a *Audit) LastSeal(ctx context.Context) (audit.Seal, error) {
	s, err := scanSeal(a.store.readDB.QueryRowContext(ctx, selectSeals+` ORDER BY first_seq DESC LIMIT 1`))
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Seal{}, nil
	}
	return s, err
}

// AddSeal implements audit.Store. Seals of one first entry exclude each other, and a seal is made only of what follows the last one.
func (a *Audit) AddSeal(ctx context.Context, s audit.Seal) error {
	return a.writer.Do(ctx, nil, func(ctx context.Context, tx *Tx) error {
		const insert = `
INSERT INTO audit_seals (first_seq, last_seq, chain, signature) VALUES ($1, $2, $3, $4) ON CONFLICT (first_seq) DO NOTHING`
		_, err := tx.Exec(ctx, insert, int64(s.First), int64(s.Last), s.Chain[:], s.Signature)
		return err
	})
}

// KeyInUse enters that hubs sign with that key from now on, once for all of them: the key file is not in the store.
func (a *Audit) KeyInUse(ctx context.Context, key account.KeyID) error {
	e := audit.Entry{Act: audit.KeysInUse, Target: string(key)}
	return a.writer.Do(ctx, []Lock{LockAccount("key:" + e.Target)}, func(ctx context.Context, tx *Tx) error {
		const known = `SELECT 1 FROM audit_entries WHERE act = $1 AND target = $2 LIMIT 1`
		entered, err := hasRow(tx.QueryRow(ctx, known, string(e.Act), e.Target))
		if err != nil {
			return fmt.Errorf("look for key: %w", err)
		}
		// An entry of another request of the same group has no number yet, so it is in no table.
		if !entered && !slices.ContainsFunc(tx.audits, func(other audit.Entry) bool { return other.Act == e.Act && other.Target == e.Target }) {
			tx.Audit(e)
		}
		return nil
	})
}

// Head implements audit.Store.
func (a *Audit) Head(ctx context.Context) (head audit.Seq, err error) {
	err = a.store.readDB.QueryRowContext(ctx, `SELECT audit_seq FROM store_counter WHERE id = 1`).Scan(&head)
	return head, err
}
