package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/backup"
)

// ErrNotEmpty is returned by Restore for a store that has been used.
var ErrNotEmpty = errors.New("there is a store already; restore only where there is none")

// ErrHalfRestored is returned by Open for a store whose restore did not come to its end.
var ErrHalfRestored = errors.New("a restore of this store was interrupted; remove it and restore again")

// Restore fills the store at address, which must be empty, with a backup of either kind of store. It is another life of the store, with
// an epoch of its own: clients are told to begin anew, and edges send what they have beyond the backup. A backup that is not whole
// changes nothing.
func Restore(ctx context.Context, address string, file io.ReadSeeker) (backup.Header, error) {
	header, err := backup.Verify(file)
	if err != nil {
		return header, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return header, err
	}
	s, err := openBare(address)
	if err != nil {
		return header, err
	}
	return header, errors.Join(s.restore(ctx, header, file), s.Close())
}

func (s *Store) restore(ctx context.Context, header backup.Header, file io.Reader) error {
	if err := s.mustBeEmpty(ctx); err != nil {
		return err
	}
	p, err := s.provider()
	if err != nil {
		return err
	}
	schema, err := s.schema(ctx)
	if err != nil {
		return err
	}
	if header.Schema > schema.Want {
		return backup.ErrNewer
	}
	if header.Schema < schema.Have {
		return fmt.Errorf("the store has tables already, and newer ones than the backup (%d, not %d): remove them first", schema.Have, header.Schema)
	}
	// The tables as they were; what has come since then is done to them with their rows in them.
	if _, err := p.UpTo(ctx, header.Schema); err != nil {
		return fmt.Errorf("make tables: %w", err)
	}
	if err := s.load(ctx, file); err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return s.begin(ctx, header)
}

// begin makes the restored store usable: with an epoch, and with a line about it in its audit log.
func (s *Store) begin(ctx context.Context, header backup.Header) error {
	tx, err := s.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	const take = `UPDATE store_counter SET epoch = $1, audit_seq = audit_seq + 1 WHERE id = 1 RETURNING audit_seq`
	var seq int64
	if err := tx.QueryRowContext(ctx, take, newEpoch()).Scan(&seq); err != nil {
		return fmt.Errorf("make epoch: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM hubs`); err != nil { // none of those that lived then uses this store
		return fmt.Errorf("clear list of hubs: %w", err)
	}
	_, err = tx.ExecContext(ctx, insertAudit, seq, micros(time.Now()), string(audit.StoreRestored), "", "", header.Epoch)
	if err != nil {
		return fmt.Errorf("enter into the audit log: %w", err)
	}
	return tx.Commit()
}

// mustBeEmpty lets a store pass whose tables were made and never used: an earlier restore may have been interrupted.
func (s *Store) mustBeEmpty(ctx context.Context) error {
	tables, err := s.tables(ctx, s.readDB)
	if err != nil || !slices.Contains(tables, "store_counter") {
		return err
	}
	used, err := hasRow(s.readDB.QueryRowContext(ctx, `SELECT 1 FROM store_counter`))
	if err == nil && used {
		err = ErrNotEmpty
	}
	return err
}

// halfRestored is the epoch of a store that no hub may use: its backup is loaded, and not everything else is done.
const halfRestored = ""

// load inserts everything in one transaction.
func (s *Store) load(ctx context.Context, file io.Reader) error {
	r, err := backup.NewReader(file)
	if err != nil {
		return err
	}
	tx, err := s.writeDB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if err := loadRows(ctx, tx, r); err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, `UPDATE store_counter SET epoch = $1 WHERE id = 1`, halfRestored)
	if err != nil {
		return fmt.Errorf("void epoch: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("the backup has no store counter: %w", errors.Join(backup.ErrDamaged, err))
	}
	return tx.Commit()
}

func loadRows(ctx context.Context, tx *sql.Tx, r *backup.Reader) error {
	var table string
	var insert *sql.Stmt
	defer func() { closeStmt(insert) }()
	for {
		part, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if part.Table != nil {
			closeStmt(insert)
			table = part.Table.Name
			insert, err = tx.PrepareContext(ctx, insertInto(*part.Table))
		} else {
			_, err = insert.ExecContext(ctx, part.Row...)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
}

// insertInto is a statement for one row. The names come from a backup, which has let only plain ones pass.
func insertInto(t backup.Table) string {
	return `INSERT INTO "` + t.Name + `" ("` + strings.Join(t.Columns, `", "`) + `") VALUES ` + bulk{width: len(t.Columns)}.placeholders(true, 1)
}

func closeStmt(stmt *sql.Stmt) {
	if stmt != nil {
		stmt.Close() //nolint:errcheck // it goes with its transaction
	}
}
